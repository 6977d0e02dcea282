"""The workers' registry, what each runs, and who else runs jobs."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.conf import conf
from jobs.console.queries.db import fetch
from jobs.console.queries.rollups import LIVE
from jobs.rows import Row

MOST_WORKERS = 10_000
MOST_RUNS = 2_000
REMEMBERED = timedelta(days=7)


@dataclass(frozen=True)
class WorkerLine:
    """A worker process. `known` false: another program's, seen only by the jobs it runs.

    `pause_seen`: the newest pause that there was at its last heartbeat. `silent`: it has missed three heartbeats;
    `lost`: it has been silent for so long that it will not come back, and never said that it stops.
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
    lost: bool = False
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
        if self.lost:
            return "Lost"
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


def lines(live: list[Row]) -> list[WorkerLine]:
    """The registered workers that run, were lost lately or still hold runs, then other programs' workers, by the jobs
    they hold. At most `MOST_WORKERS` registered ones, the last heard of first: who lives is never left out for who does not.
    """
    running: dict[str, int] = {}
    for row in live:
        if row["worker_id"] and not row["inline"]:
            running[row["worker_id"]] = running.get(row["worker_id"], 0) + row["n"]
    rows = fetch(
        f"""SELECT * FROM (SELECT {_COLUMNS} FROM worker
                            WHERE (stopped_at IS NULL
                                   AND heartbeat_at > clock_timestamp() - make_interval(secs => %(forget)s))
                               OR id = ANY (%(holders)s)
                            ORDER BY heartbeat_at DESC LIMIT %(most)s) w
            ORDER BY id""",  # noqa: S608
        {**_spans(), "holders": list(running), "most": MOST_WORKERS},
    )
    known = [WorkerLine(running=running.pop(row["id"], 0), **row) for row in rows]
    return known + [WorkerLine(id=name, running=n, known=False) for name, n in sorted(running.items())]


def ended(most: int, holding: set[str]) -> tuple[list[WorkerLine], int]:
    """Workers that stopped or were lost in the last seven days, the newest first, and how many there are; without
    those that still hold runs."""
    rows = fetch(
        f"""SELECT {_COLUMNS}, count(*) OVER () AS n FROM worker
             WHERE heartbeat_at > clock_timestamp() - make_interval(secs => %(remembered)s) AND id <> ALL (%(holding)s)
               AND (stopped_at IS NOT NULL OR heartbeat_at <= clock_timestamp() - make_interval(secs => %(forget)s))
             ORDER BY coalesce(stopped_at, heartbeat_at) DESC, id LIMIT %(most)s""",  # noqa: S608
        {**_spans(), "remembered": REMEMBERED.total_seconds(), "holding": list(holding), "most": most},
    )
    count = rows[0]["n"] if rows else 0
    return [WorkerLine(running=0, **{name: row[name] for name in row if name != "n"}) for row in rows], count


# A worker that said it stops is not silent.
_COLUMNS = """id, started_at, heartbeat_at, slots, types, version, stopping, stopped_at, pause_seen,
              stopped_at IS NULL AND heartbeat_at < clock_timestamp() - make_interval(secs => %(silent)s) AS silent,
              stopped_at IS NULL AND heartbeat_at <= clock_timestamp() - make_interval(secs => %(forget)s) AS lost"""


def _spans() -> dict[str, float]:
    """After how many seconds a worker is silent, and after how many it is lost."""
    forget = max(600.0, 2 * conf().stale_timeout.total_seconds())
    return {"silent": silent_after().total_seconds(), "forget": forget}


def runs() -> list[Row]:
    """What runs now, the silent first, then by its start; `silent`: it has missed three heartbeats. At most `MOST_RUNS`."""
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
