"""What the overview compares and draws: failures, percentiles, tenants. Read less often than what is now."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from jobs.console.queries.db import database_now, limited
from jobs.console.queries.overview import drain, failing, snapshot, tenants, times
from jobs.console.queries.overview.caps import tenant_caps, type_caps
from jobs.console.queries.overview.failing import Failing
from jobs.console.queries.overview.tenants import Capacity, TenantLine
from jobs.console.queries.overview.times import Times
from jobs.console.queries.workers import lines as registry
from jobs.queue import pauses
from jobs.rows import Row

TOP = 8
# So many of those with most waiting are known by name.
WAITING = 200


@dataclass(frozen=True)
class Detail:
    """One reading. `at` is the database's clock."""

    at: datetime
    failing: Failing
    times: Times
    tenants: list[TenantLine]
    tenants_active: int
    starved: dict[str, timedelta]
    took: Capacity
    active: frozenset[str]
    waiting: list[str]
    with_jobs: int
    drawn: dict[str, dict[str, Any]] = field(default_factory=dict, compare=False, repr=False)
    """Its charts by time zone, once somebody has drawn them: one reading serves many."""

    @property
    def fairness(self) -> float | None:
        """Jain's index over the worker time of the last quarter of an hour."""
        return self.took.fairness()

    @property
    def greediest(self) -> TenantLine | None:
        """Who takes far more than its part, while others wait."""
        top = max(self.tenants, key=lambda line: line.share or 0.0, default=None)
        others_wait = any(line.queued and line is not top for line in self.tenants)
        return top if top and others_wait and top.greedy else None


def read_detail() -> Detail:
    """A fixed number of bounded statements. Raises `TooSlow`."""
    with limited():
        now = database_now()
        live = snapshot.live_runs()
        heads = drain.heads.read()
        took = tenants.capacity(now, live)
        spread = times.times(now)
        queued, waiting = tenants.waiting(WAITING)
        caps, full_types = tenant_caps(_names(live, heads, queued)), _full_types(live)
        running = tenants.running(live)
        full = {name for name, cap in caps.items() if cap is not None and running.get(name, 0) >= cap}
        free = tenants.free_heads(heads, pauses.active(), _handled(live), full, full_types)
        starved = tenants.starving(free, took, spread.wait.p50, now)
        oldest: dict[str, datetime] = {}
        for head in heads:
            oldest[head.tenant] = min(head.since, oldest.get(head.tenant, head.since))
        active = frozenset({*running, *queued, *oldest, *(name for name, s in took.seconds.items() if s > 0)})
        lines = _lines(queued, running, oldest, starved, took)
        tenants.fill(lines, live, took, set(active))
        for line in lines:
            line.cap = caps.get(line.tenant)
        return Detail(
            at=now,
            failing=failing.failing(now, 6),
            times=spread,
            tenants=sorted(lines, key=lambda line: (not line.starved, line.oldest is None, line.oldest, -line.running)),
            tenants_active=max(waiting, len(active)),
            starved=starved,
            took=took,
            active=active,
            waiting=list(queued),
            with_jobs=tenants.with_jobs(),
        )


def _names(live: list[Row], heads: list[drain.Head], queued: dict[str, int]) -> list[str]:
    return sorted({*queued, *(row["tenant_id"] for row in live), *(head.tenant for head in heads)})


def _full_types(live: list[Row]) -> set[str]:
    running: dict[str, int] = defaultdict(int)
    for row in live:
        running[row["type"]] += row["n"]
    caps = type_caps(list(running))
    return {name for name, n in running.items() if (cap := caps.get(name)) is not None and n >= cap}


def _handled(live: list[Row]) -> frozenset[str]:
    return frozenset(name for line in registry(live) if line.alive for name in line.types)


def _lines(
    queued: dict[str, int],
    running: dict[str, int],
    oldest: dict[str, datetime],
    starved: dict[str, timedelta],
    took: Capacity,
) -> list[TenantLine]:
    """The tenants worth a look: starved, waiting longest, taking most, waiting most, running most."""
    by_wait = sorted(oldest, key=lambda name: oldest[name])
    by_time = sorted(took.seconds, key=lambda name: -took.seconds[name])
    by_running = sorted(running, key=lambda name: -running[name])
    names: dict[str, None] = {}
    for part in (list(starved)[:3], by_wait[:3], by_time[:2], list(queued), by_running, by_wait):
        names |= dict.fromkeys(part)
    chosen = list(names)[:TOP]
    waits, since = tenants.queued_of(chosen), tenants.oldest_of(chosen)
    return [
        TenantLine(name, queued=max(0, waits.get(name, 0)), oldest=since.get(name), starved=name in starved)
        for name in chosen
    ]
