"""Is anything held? Pauses and whether workers know them, silent runs, duties that are overdue."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.conf import conf
from jobs.console.queries import workers
from jobs.console.queries.db import fetch, fetch_one
from jobs.console.queries.rollups import LIVE
from jobs.console.queries.workers import WorkerLine
from jobs.queue.pauses import PauseInForce
from jobs.rows import Row

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
    """A duty of the sweep that nobody does, or that fails; or what keeps PostgreSQL from cleaning, with its `effect`."""

    name: str
    since: datetime | None
    error: str = ""
    effect: str = ""


def pause_lines(
    in_force: list[PauseInForce], states: list[Row], live: list[Row], registry: list[WorkerLine]
) -> list[PauseLine]:
    """What each pause holds, and who knows it. `states`: the counts by type and state."""
    if not in_force:
        return []
    queued = {row["type"]: row["n"] for row in states if row["state"] == "QUEUED"}
    held, leaked = _per_pause(_HELD, in_force), _per_pause(_LEAKED, in_force)
    for place, pause in enumerate(in_force):
        if pause.tenant_id is None:
            held[place] = queued.get(pause.type, 0) if pause.type is not None else sum(queued.values())
    return [
        _pause_line(pause, live, registry, held.get(place, 0), leaked.get(place, 0))
        for place, pause in enumerate(in_force)
    ]


def _pause_line(pause: PauseInForce, live: list[Row], registry: list[WorkerLine], held: int, leaked: int) -> PauseLine:
    known = [line for line in registry if line.known and not line.stopped_at]
    confirmed = None
    unsure: tuple[str, ...] = ()
    if pause.id is not None and known:
        sure = {line.id for line in known if line.alive and (line.pause_seen or 0) >= pause.id}
        confirmed, unsure = len(sure), tuple(line.name for line in known if line.id not in sure)
    running = sum(row["n"] for row in live if covers(pause, row))
    return PauseLine(pause, None if pause.project_id else held, running, leaked, confirmed, unsure)


def covers(pause: PauseInForce, row: Row) -> bool:
    """Is this of the pause's scope?"""
    return (
        pause.type in {None, row["type"]}
        and pause.tenant_id in {None, row["tenant_id"]}
        and pause.project_id in {None, row["project_id"]}
    )


# What waits within each scope that names a tenant, from the counters; they know no projects.
_HELD = """
SELECT p.place - 1 AS place, sum(q.n)::bigint AS n
  FROM unnest(%(since)s::timestamptz[], %(type)s::text[], %(tenant)s::text[], %(project)s::text[])
       WITH ORDINALITY AS p (since, type, tenant, project, place)
  JOIN (SELECT tenant_id, type, n FROM tally_state WHERE state = 'QUEUED' AND n <> 0
        UNION ALL
        SELECT tenant_id, type, n FROM tally_delta WHERE to_state = 'QUEUED'
        UNION ALL
        SELECT tenant_id, type, -n FROM tally_delta WHERE from_state = 'QUEUED') q
    ON p.tenant = q.tenant_id AND (p.type IS NULL OR p.type = q.type)
 WHERE p.project IS NULL
 GROUP BY 1
"""

# Workers obey a pause from its commit on; a start after it is another program's, or a fault.
_LEAKED = f"""
SELECT p.place - 1 AS place, count(*) AS n
  FROM unnest(%(since)s::timestamptz[], %(type)s::text[], %(tenant)s::text[], %(project)s::text[])
       WITH ORDINALITY AS p (since, type, tenant, project, place)
  JOIN (SELECT type, "tenantId" AS tenant, "projectId" AS project, "startedAt" AS started
          FROM "PlatformJob" WHERE status IN {LIVE} AND NOT inline OFFSET 0) j
    ON j.started > p.since AND (p.type IS NULL OR p.type = j.type)
   AND (p.tenant IS NULL OR p.tenant = j.tenant) AND (p.project IS NULL OR p.project = j.project)
 GROUP BY 1
"""  # noqa: S608  (a constant)


def _per_pause(sql: str, in_force: list[PauseInForce]) -> dict[int, int]:
    """A number for each pause, by its place in the list."""
    params = {
        "since": [pause.since for pause in in_force],
        "type": [pause.type for pause in in_force],
        "tenant": [pause.tenant_id for pause in in_force],
        "project": [pause.project_id for pause in in_force],
    }
    return {row["place"]: max(0, row["n"]) for row in fetch(sql, params)}


def silent_runs() -> int:
    """Runs that have missed three heartbeats."""
    row = fetch_one(
        f"""SELECT count(*) AS n FROM "PlatformJob"
             WHERE status IN {LIVE}
               AND coalesce("heartbeatAt", "startedAt", "queuedAt") < clock_timestamp() - make_interval(secs => %(secs)s)""",  # noqa: S608
        {"secs": workers.silent_after().total_seconds()},
    )
    return int(row["n"]) if row else 0


# What keeps PostgreSQL from cleaning rows of the past away: claims read over them, so they grow slower and slower. Whoever
# may not see other roles' sessions sees what comes of them.
_NOT_CLEANED = """
SELECT t.n_dead_tup AS dead, t.n_dead_tup > %(dead)s + 0.04 * t.n_live_tup AS many, o.pid, o.who, o.began
  FROM pg_stat_user_tables t
  LEFT JOIN (SELECT pid, concat_ws(', ', usename, nullif(application_name, '')) AS who, xact_start AS began
               FROM pg_stat_activity
              WHERE datname = current_database() AND backend_type = 'client backend' AND backend_xmin IS NOT NULL
                AND pid <> pg_backend_pid()
             UNION ALL
             SELECT NULL, concat_ws(', ', owner, 'prepared as ' || gid), prepared
               FROM pg_prepared_xacts WHERE database = current_database()
              ORDER BY began
              LIMIT 1) o ON o.began < clock_timestamp() - make_interval(secs => %(old)s)
 WHERE t.relid = to_regclass('"PlatformJob"')
"""
OLD_SECONDS = 300
DEAD_ROWS = 50_000


def not_cleaned() -> Overdue | None:
    """The old transaction that keeps dead rows in the queue's table, or that there are many of them."""
    row = fetch_one(_NOT_CLEANED, {"old": OLD_SECONDS, "dead": DEAD_ROWS})
    if row is None or not (row["began"] or row["many"]):
        return None
    held = (
        f"{row['dead']:,} dead rows of the queue's table are not cleaned away" if row["many"] else "dead rows are kept"
    )
    if row["began"]:
        who = f"of {row['who'][:120]}" + (f" (process {row['pid']})" if row["pid"] else "")
        return Overdue("cleaning", row["began"], f"A transaction {who}", f"{held}, and claims slow down until it ends")
    why = f"{held}: an old transaction holds them, or autovacuum is off"
    return Overdue("cleaning", None, why, "claims slow down")


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
    return found + ([kept] if (kept := not_cleaned()) else [])
