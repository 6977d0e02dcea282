"""The workers' registry, what each runs, and who else runs jobs."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.conf import conf
from jobs.console.queries.db import Row, fetch
from jobs.console.queries.rollups import LIVE

MOST_WORKERS = 500
MOST_RUNS = 2_000


@dataclass(frozen=True)
class WorkerLine:
    """A worker process. `known` false: another program's, seen only by the jobs it runs.

    `pause_seen`: the newest pause that there was at its last heartbeat.
    """

    id: str
    running: int
    slots: int = 0
    types: list[str] = field(default_factory=list)
    started_at: datetime | None = None
    heartbeat_at: datetime | None = None
    stopping: bool = False
    stopped_at: datetime | None = None
    version: str = ""
    pause_seen: int | None = None
    silent: bool = False
    known: bool = True

    @property
    def alive(self) -> bool:
        """It has been heard of lately and goes on."""
        return self.known and not self.silent and self.stopped_at is None

    @property
    def word(self) -> str:
        """How it is."""
        if not self.known:
            return "Other program"
        if self.stopped_at:
            return "Stopped"
        if self.silent:
            return "Silent"
        return "Stopping" if self.stopping else "Live"

    @property
    def name(self) -> str:
        """The host and process, without the nonce."""
        return self.id.rsplit(":", 1)[0] if self.id.count(":") >= 2 else self.id

    @property
    def silent_runs(self) -> int:
        """Runs of a worker that says nothing."""
        return self.running if self.silent else 0


def silent_after() -> timedelta:
    """A worker or run that says nothing for three heartbeats is called silent."""
    return 3 * conf().heartbeat_interval


def lines(live: list[Row], ended_too: bool = False) -> list[WorkerLine]:
    """The registered workers that run or were lost lately, then other programs' workers, by the jobs they hold."""
    rows = fetch(
        """SELECT id, started_at, heartbeat_at, slots, types, version, stopping, stopped_at, pause_seen,
                  heartbeat_at < clock_timestamp() - make_interval(secs => %(silent)s) AS silent
             FROM worker
            WHERE CASE WHEN %(ended)s THEN heartbeat_at > clock_timestamp() - interval '7 days'
                       ELSE stopped_at IS NULL
                        AND heartbeat_at > clock_timestamp() - make_interval(secs => %(forget)s) END
            ORDER BY stopped_at IS NOT NULL, id LIMIT %(most)s""",
        {
            "silent": silent_after().total_seconds(),
            "forget": max(600.0, 2 * conf().stale_timeout.total_seconds()),
            "ended": ended_too,
            "most": MOST_WORKERS,
        },
    )
    running: dict[str, int] = {}
    for row in live:
        if row["worker_id"] and not row["inline"]:
            running[row["worker_id"]] = running.get(row["worker_id"], 0) + row["n"]
    known = [
        WorkerLine(running=running.pop(row["id"], 0), **{**row, "silent": row["silent"] and not row["stopped_at"]})
        for row in rows
    ]
    return known + [WorkerLine(id=name, running=n, known=False) for name, n in sorted(running.items())]


def runs() -> list[Row]:
    """What runs now, the longest silent first; `silent`: it has missed three heartbeats. At most `MOST_RUNS`."""
    return fetch(
        f"""SELECT id, left("tenantId", 300) AS tenant_id, left(type, 200) AS type, left(name, 300) AS name,
                   status::text AS status, progress, left("currentStep", 200) AS current_step, "workerId" AS worker_id,
                   inline, "startedAt" AS started_at, "heartbeatAt" AS heartbeat_at,
                   coalesce("heartbeatAt", "startedAt", "queuedAt")
                   < clock_timestamp() - make_interval(secs => %(silent)s) AS silent
              FROM "PlatformJob" WHERE status IN {LIVE}
             ORDER BY silent DESC, "startedAt", id LIMIT %(most)s""",  # noqa: S608
        {"silent": silent_after().total_seconds(), "most": MOST_RUNS},
    )
