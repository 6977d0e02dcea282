"""One reading of what is now: what every page's frame needs, and the overview's figures."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.console.forecast import Forecast
from jobs.console.queries import alerts, workers
from jobs.console.queries.alerts import OpenAlerts
from jobs.console.queries.db import database_now, fetch, limited
from jobs.console.queries.operations import open_by_state
from jobs.console.queries.overview import drain, failing, held
from jobs.console.queries.overview.drain import Minute, TypeLine
from jobs.console.queries.overview.held import Overdue, PauseLine
from jobs.console.queries.rollups import LIVE
from jobs.console.queries.workers import WorkerLine
from jobs.queue import pauses
from jobs.rows import Row

TOP = 8


@dataclass(frozen=True)
class Snapshot:
    """One reading. `at` is the database's clock."""

    at: datetime
    states: dict[str, int]
    types: list[TypeLine]
    minutes: list[Minute]
    workers: list[WorkerLine]
    pauses: list[PauseLine]
    live: list[Row]
    silent: int
    due: int = 0
    overdue: list[Overdue] = field(default_factory=list)
    open_groups: dict[str, int] = field(default_factory=dict)
    operations: dict[str, int] = field(default_factory=dict)
    handled: frozenset[str] = field(default_factory=frozenset)
    forecast: Forecast = field(default_factory=Forecast)
    alerts: OpenAlerts = field(default_factory=OpenAlerts)

    def count(self, state: str) -> int:
        """How many jobs are in this state."""
        return self.states.get(state, 0)

    @property
    def queued(self) -> int:
        return self.count("QUEUED")

    @property
    def oldest(self) -> datetime | None:
        """Since when the job waits that waits longest."""
        return min((line.oldest for line in self.types if line.oldest), default=None)

    @property
    def unhandled(self) -> list[str]:
        """Types that wait and that no live worker has a handler for; none when no worker lives at all."""
        if not self.workers_live:
            return []
        return sorted(line.type for line in self.types if line.queued and line.type not in self.handled)

    @property
    def workers_live(self) -> list[WorkerLine]:
        return [line for line in self.workers if line.alive]

    @property
    def leaked(self) -> int:
        """Jobs that started although a pause holds them."""
        return sum(line.leaked for line in self.pauses)


def read() -> Snapshot:
    """Reads a snapshot: a fixed number of bounded statements. Raises `TooSlow`."""
    with limited():
        now = database_now()
        states = drain.states_by_type()
        live = live_runs()
        since = now.replace(second=0, microsecond=0) - timedelta(minutes=drain.MINUTES)
        flow = drain.flow(since)
        in_force = pauses.active()
        registry = workers.lines(live)
        minutes = drain.minute_lines(flow, since)
        total = _sum_states(states)
        everything = any(drain.holds(one, "") and one.type is None for one in in_force)
        return Snapshot(
            at=now,
            states=total,
            types=drain.type_lines(states, flow, drain.oldest_by_type(), in_force, now),
            minutes=minutes,
            workers=registry,
            pauses=held.pause_lines(in_force, states, live, registry),
            live=live,
            silent=held.silent_runs(),
            due=drain.due_retries(),
            overdue=held.overdue_duties(now),
            open_groups=failing.open_groups(),
            operations=open_by_state(),
            handled=frozenset(name for line in registry if line.alive for name in line.types),
            forecast=drain.overall(total.get("QUEUED", 0), minutes, now, held=everything),
            alerts=alerts.open_now(everybodys=True),
        )


def live_runs() -> list[Row]:
    """What runs now, by tenant, type and worker: bounded by the workers' slots. `seconds`: how long it has run, 900 a run
    at most; `silent`: how many have missed three heartbeats."""
    return fetch(
        f"""SELECT "tenantId" AS tenant_id, type, "projectId" AS project_id, "workerId" AS worker_id, inline, count(*) AS n,
                   coalesce(sum(CASE WHEN isfinite("startedAt")
                                     THEN least(greatest(extract(epoch FROM clock_timestamp() - "startedAt"), 0), 900)
                                END), 0)::float AS seconds,
                   count(*) FILTER (WHERE coalesce("heartbeatAt", "startedAt", "queuedAt")
                                          < clock_timestamp() - make_interval(secs => %(silent)s)) AS silent
              FROM "PlatformJob" WHERE status IN {LIVE}
             GROUP BY 1, 2, 3, 4, 5 LIMIT 20000""",  # noqa: S608
        {"silent": workers.silent_after().total_seconds()},
    )


def _sum_states(rows: list[Row]) -> dict[str, int]:
    total: dict[str, int] = defaultdict(int)
    for row in rows:
        total[row["state"]] += row["n"]
    return dict(total)
