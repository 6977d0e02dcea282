"""Who suffers, and who takes the capacity? Slots, waits, the share of worker time beside the fair one, starvation."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.console.queries import counts
from jobs.console.queries.db import fetch
from jobs.console.queries.overview.drain import Head
from jobs.console.queries.rollups import TENANTS
from jobs.queue.pauses import PauseInForce
from jobs.rows import Row

SHARE_MINUTES = 15
# A tenant takes much more than its part from here on; among thousands of tenants a fair part is next to nothing.
GREEDY, GREEDY_SHARE = 2.0, 0.1
# Starved: without a start for longer than so many median waits, so many turns, and this, while others start.
STARVED_WAITS = 5
TURNS = 3
STARVED_LEAST = timedelta(minutes=2)
# Pairs of type and priority in which a tenant's oldest job is looked for.
MOST_LANES = 200
MOST_COUNTED = 10_000


@dataclass
class TenantLine:
    """A tenant that runs or waits. `cap` None: unlimited. `share` of the worker time of the last quarter of an hour, and
    the `fair` one by the weights of those that ran or waited; None: nobody ran."""

    tenant: str
    queued: int = 0
    running: int = 0
    silent: int = 0
    cap: int | None = None
    oldest: datetime | None = None
    share: float | None = None
    fair: float | None = None
    started: int = 0
    starved: bool = False

    @property
    def suspended(self) -> bool:
        """Its cap is 0."""
        return self.cap == 0

    @property
    def greedy(self) -> bool:
        """Does it take far more than its part?"""
        return self.times_fair >= GREEDY and (self.share or 0.0) >= GREEDY_SHARE

    @property
    def times_fair(self) -> float:
        """How many times its fair share it takes."""
        return self.share / self.fair if self.share and self.fair else 0.0


@dataclass(frozen=True)
class Capacity:
    """Worker time of the last quarter of an hour, by tenant, in seconds; runs under way count as far as they are."""

    seconds: Mapping[str, float]
    started: Mapping[str, int]
    last_start: Mapping[str, datetime]
    weights: Mapping[str, int]

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def fairness(self) -> float | None:
        """Jain's index over time by weight: 1 is even, 1/n is all to one. None when fewer than two ran."""
        parts = [seconds / self.weights.get(tenant, 1) for tenant, seconds in self.seconds.items() if seconds > 0]
        squares = sum(part * part for part in parts)
        return sum(parts) ** 2 / (len(parts) * squares) if len(parts) > 1 and squares else None


def capacity(now: datetime, live: list[Row]) -> Capacity:
    """Who got how much."""
    since = now.replace(second=0, microsecond=0) - timedelta(minutes=SHARE_MINUTES)
    rows = fetch(
        f"""SELECT tenant_id, sum(seconds) AS seconds, sum(started)::bigint AS started,
                   max(minute) FILTER (WHERE started > 0) AS last_start
              FROM ({TENANTS}) c GROUP BY 1""",  # noqa: S608
        {"since": since},
    )
    seconds: dict[str, float] = defaultdict(float)
    for row in rows:
        seconds[row["tenant_id"]] += row["seconds"]
    for row in live:
        if not row["inline"]:
            seconds[row["tenant_id"]] += row["seconds"]
    weights = fetch("SELECT tenant_id, weight FROM tenant_setting WHERE weight <> 1 LIMIT 10000")
    return Capacity(
        seconds,
        started={row["tenant_id"]: row["started"] for row in rows},
        last_start={row["tenant_id"]: row["last_start"] for row in rows if row["last_start"]},
        weights={row["tenant_id"]: row["weight"] for row in weights},
    )


def waiting(most: int) -> tuple[dict[str, int], int]:
    """The tenants with most waiting, and how many tenants wait."""
    rows = fetch(
        """SELECT tenant_id, n, count(*) OVER () AS tenants
             FROM (SELECT tenant_id, sum(n)::bigint AS n
                     FROM (SELECT tenant_id, n FROM tally_state WHERE state = 'QUEUED' AND n <> 0
                           UNION ALL
                           SELECT tenant_id, n FROM tally_delta WHERE to_state = 'QUEUED'
                           UNION ALL
                           SELECT tenant_id, -n FROM tally_delta WHERE from_state = 'QUEUED') c
                    GROUP BY 1 HAVING sum(n) > 0) q
            ORDER BY n DESC, tenant_id LIMIT %(most)s""",
        {"most": most},
    )
    return {row["tenant_id"]: row["n"] for row in rows}, int(rows[0]["tenants"]) if rows else 0


def with_jobs() -> int:
    """How many tenants have jobs, by jumping from one to the next: exact below `MOST_COUNTED`, where counting stops."""
    found = fetch(
        """WITH RECURSIVE one AS (
               (SELECT tenant_id FROM tally_state WHERE n > 0 ORDER BY tenant_id LIMIT 1)
               UNION ALL
               SELECT next.tenant_id FROM one CROSS JOIN LATERAL (
                   SELECT tenant_id FROM tally_state
                    WHERE n > 0 AND tenant_id > one.tenant_id ORDER BY tenant_id LIMIT 1) next
           )
           SELECT count(*) AS n FROM (SELECT 1 FROM one LIMIT %(most)s) c""",
        {"most": MOST_COUNTED},
    )
    return int(found[0]["n"])


def running(live: list[Row], name: str = "n") -> dict[str, int]:
    """Runs in workers' slots, by tenant; `name` "silent": those without a heartbeat."""
    found: dict[str, int] = defaultdict(int)
    for row in live:
        if not row["inline"]:
            found[row["tenant_id"]] += row[name]
    return found


def fill(lines: Iterable[TenantLine], live: list[Row], took: Capacity, active: set[str]) -> None:
    """Adds what runs and what was taken to lines that know their tenant. `active`: all that ran or wait."""
    now_running, silent = running(live), running(live, "silent")
    weight = sum(took.weights.get(tenant, 1) for tenant in active) or 1
    for line in lines:
        line.running, line.silent = now_running.get(line.tenant, 0), silent.get(line.tenant, 0)
        line.started = took.started.get(line.tenant, 0)
        if took.total > 0:
            line.share = took.seconds.get(line.tenant, 0.0) / took.total
            line.fair = took.weights.get(line.tenant, 1) / weight if line.tenant in active else None


def starving(
    free: Mapping[str, datetime], took: Capacity, median_wait: float | None, now: datetime
) -> dict[str, timedelta]:
    """Tenants that wait and get nothing while others do, with how long. `free`: since when the longest waiting job waits
    that nothing but its turn holds; `median_wait` in seconds.

    When many wait for few slots everybody's turn comes late, and nobody starves: the limit is three rounds at least.
    """
    others = max(took.last_start.values(), default=None)
    starts = sum(took.started.values()) / SHARE_MINUTES
    if others is None or not starts:
        return {}
    turns = timedelta(minutes=TURNS * len(free) / starts)
    limit = max(STARVED_LEAST, timedelta(seconds=STARVED_WAITS * (median_wait or 0.0)), turns)
    if now - others > limit:
        return {}  # nobody starts: that is no question of who
    without = {name: now - max(since, took.last_start.get(name, since)) for name, since in free.items()}
    found = {name: length for name, length in without.items() if length > limit}
    if found and limit > timedelta(minutes=SHARE_MINUTES):
        for name in _started_since(list(found), now - limit):
            found.pop(name, None)
    return found


def _started_since(tenants: list[str], since: datetime) -> list[str]:
    rows = fetch(
        """SELECT DISTINCT tenant_id FROM tally_tenant
            WHERE minute >= %(since)s AND started > 0 AND tenant_id = ANY (%(tenants)s)""",
        {"tenants": tenants, "since": since},
    )
    return [row["tenant_id"] for row in rows]


def free_heads(
    heads: list[Head],
    in_force: list[PauseInForce],
    handled: frozenset[str],
    full_tenants: set[str],
    full_types: set[str],
) -> dict[str, datetime]:
    """The longest wait of each tenant that no pause, cap or missing handler explains."""
    paused_projects = {pause.tenant_id for pause in in_force if pause.project_id}
    found: dict[str, datetime] = {}
    for head in heads:
        if (
            head.tenant in full_tenants
            or head.type in full_types
            or head.type not in handled
            or None in paused_projects
            or head.tenant in paused_projects
            or any(_covers(pause, head) for pause in in_force)
        ):
            continue
        found[head.tenant] = min(head.since, found.get(head.tenant, head.since))
    return found


def _covers(pause: PauseInForce, head: Head) -> bool:
    return pause.type in {None, head.type} and pause.tenant_id in {None, head.tenant}


def oldest_of(tenants: list[str]) -> dict[str, datetime]:
    """Since when the longest-waiting job of each of these tenants waits: one look a tenant, type and priority, of which the
    first `MOST_LANES` are looked at."""
    rows = fetch(_OLDEST_OF, {"tenants": tenants, "most": MOST_LANES})
    return {row["tenant"]: row["since"] for row in rows}


_OLDEST_OF = """
WITH RECURSIVE lane AS (
    (SELECT type, -priority AS level FROM "PlatformJob" WHERE status = 'QUEUED' AND "nextRetryAt" IS NULL
      ORDER BY type, -priority LIMIT 1)
    UNION ALL
    SELECT n.type, n.level
      FROM lane l
     CROSS JOIN LATERAL (SELECT type, -priority AS level FROM "PlatformJob"
                          WHERE status = 'QUEUED' AND "nextRetryAt" IS NULL AND (type, -priority) > (l.type, l.level)
                          ORDER BY type, -priority LIMIT 1) n
)
SELECT t.tenant, min(h.since) AS since
  FROM unnest(%(tenants)s::text[]) AS t (tenant)
 CROSS JOIN (SELECT type, level FROM lane LIMIT %(most)s) l
 CROSS JOIN LATERAL (
       SELECT coalesce(j."requeuedAt", j."queuedAt") AS since FROM "PlatformJob" j
        WHERE j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
          AND j.type = l.type AND -j.priority = l.level AND j."tenantId" = t.tenant
        ORDER BY coalesce(j."requeuedAt", j."queuedAt"), j.id LIMIT 1) h
 GROUP BY 1
"""


def queued_of(tenants: list[str]) -> dict[str, int]:
    """How many jobs of these tenants wait."""
    rows = fetch(
        f"""SELECT tenant_id, sum(n)::bigint AS n FROM ({counts.STATES}) c
             WHERE state = 'QUEUED' AND tenant_id = ANY (%(tenants)s) GROUP BY 1""",  # noqa: S608
        {"tenants": tenants},
    )
    return {row["tenant_id"]: row["n"] for row in rows}
