"""Is anything held? Pauses and whether workers know them, silent runs, duties that are overdue."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.conf import conf
from jobs.console.queries import counts, workers
from jobs.console.queries.db import Row, fetch, fetch_one
from jobs.console.queries.rollups import LIVE
from jobs.console.queries.workers import WorkerLine
from jobs.queue.pauses import PauseInForce

RETENTION_OVERDUE = timedelta(days=2)


@dataclass(frozen=True)
class PauseLine:
    """A pause and its effect.

    `held` None: not counted. `leaked`: jobs of its scope that started after it and still run. `confirmed`: live workers
    that have seen it, None when that cannot be known; `unsure`: the others, which are silent or have not beaten since.
    """

    pause: PauseInForce
    held: int | None
    running: int
    leaked: int = 0
    confirmed: int | None = None
    unsure: tuple[str, ...] = ()

    @property
    def workers(self) -> int:
        """The workers that should know it."""
        return (self.confirmed or 0) + len(self.unsure)


@dataclass(frozen=True)
class Overdue:
    """A duty of the sweep that nobody does, or that fails."""

    name: str
    since: datetime | None
    error: str = ""


def pause_lines(in_force: list[PauseInForce], live: list[Row], registry: list[WorkerLine]) -> list[PauseLine]:
    """What each pause holds, and who knows it."""
    return [_pause_line(pause, live, registry) for pause in in_force]


def _pause_line(pause: PauseInForce, live: list[Row], registry: list[WorkerLine]) -> PauseLine:
    inside = [row for row in live if covers(pause, row)]
    held = None if pause.project_id else counts.queued_in(pause.type, pause.tenant_id)
    known = [line for line in registry if line.known and not line.stopped_at]
    confirmed = None
    unsure: tuple[str, ...] = ()
    if pause.id is not None and known:
        sure = [line for line in known if line.alive and (line.pause_seen or 0) >= pause.id]
        confirmed, unsure = len(sure), tuple(line.name for line in known if line not in sure)
    return PauseLine(
        pause,
        held,
        running=sum(row["n"] for row in inside),
        leaked=_leaked(pause) if inside else 0,
        confirmed=confirmed,
        unsure=unsure,
    )


def covers(pause: PauseInForce, row: Row) -> bool:
    """Is this of the pause's scope?"""
    return (
        pause.type in {None, row["type"]}
        and pause.tenant_id in {None, row["tenant_id"]}
        and pause.project_id in {None, row["project_id"]}
    )


def _leaked(pause: PauseInForce) -> int:
    """Workers obey a pause from its commit on; a start after it is another program's, or a fault."""
    row = fetch_one(
        f"""SELECT count(*) AS n FROM "PlatformJob"
             WHERE status IN {LIVE} AND NOT inline AND "startedAt" > %(since)s
               AND (%(type)s::text IS NULL OR type = %(type)s)
               AND (%(tenant)s::text IS NULL OR "tenantId" = %(tenant)s)
               AND (%(project)s::text IS NULL OR "projectId" = %(project)s)""",  # noqa: S608
        {"since": pause.since, "type": pause.type, "tenant": pause.tenant_id, "project": pause.project_id},
    )
    return int(row["n"]) if row else 0


def silent_runs() -> int:
    """Runs that have missed three heartbeats."""
    row = fetch_one(
        f"""SELECT count(*) AS n FROM "PlatformJob"
             WHERE status IN {LIVE}
               AND coalesce("heartbeatAt", "startedAt", "queuedAt") < clock_timestamp() - make_interval(secs => %(secs)s)""",  # noqa: S608
        {"secs": workers.silent_after().total_seconds()},
    )
    return int(row["n"]) if row else 0


def overdue_duties(now: datetime) -> list[Overdue]:
    """Duties that nobody has done for too long, and those whose last try failed. Nothing while none was ever done."""
    rows = fetch("SELECT name, looked_at, ok_at, left(error, 200) AS error FROM sweep_duty ORDER BY name LIMIT 100")
    late = max(timedelta(seconds=60), 4 * conf().poll_interval)
    found = []
    for row in rows:
        if row["error"]:
            found.append(Overdue(row["name"], row["ok_at"], row["error"]))
        elif row["name"] == "rescue" and now - row["looked_at"] > late:
            found.append(Overdue("sweep", row["looked_at"]))
        elif row["name"].startswith("prune ") and now - (row["ok_at"] or row["looked_at"]) > RETENTION_OVERDUE:
            found.append(Overdue(row["name"], row["ok_at"]))
    return found
