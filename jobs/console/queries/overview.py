"""Everything the overview and the frame show, read at once and kept for all open pages of this process."""

import json
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from jobs.conf import conf
from jobs.console.queries import counts, workers
from jobs.console.queries.db import Row, database_now, fetch, fetch_one, limited
from jobs.console.queries.workers import WorkerLine
from jobs.queue import pauses
from jobs.queue.pauses import PauseInForce

MINUTES = 60
RATE_MINUTES = 5
TOP = 8
# The oldest job of each type, priority and tenant is looked up, at most so many of them.
MOST_HEADS = 2_000
_FAILED = "('RETRY_WAIT', 'FAILED', 'DEAD_LETTERED')"
_LIVE = "('RUNNING', 'CANCEL_REQUESTED')"


@dataclass(frozen=True)
class Minute:
    """One whole minute (UTC): jobs that entered the queue, left it for a run, were done, and runs that failed."""

    at: datetime
    entered: int = 0
    left: int = 0
    done: int = 0
    failed: int = 0


@dataclass
class TypeLine:
    """A job type: waiting now, and its flow a minute over the last minutes."""

    type: str
    queued: int = 0
    entered: float = 0
    left: float = 0
    oldest: datetime | None = None
    held: bool = False

    @property
    def net(self) -> int:
        """More in than out each minute."""
        return round(self.entered) - round(self.left)


@dataclass
class TenantLine:
    """A tenant that runs or waits. `cap` None: unlimited."""

    tenant: str
    queued: int = 0
    running: int = 0
    cap: int | None = None
    oldest: datetime | None = None


@dataclass(frozen=True)
class PauseLine:
    """A pause and its effect. `held` None: not counted."""

    pause: PauseInForce
    held: int | None
    running: int


@dataclass(frozen=True)
class Snapshot:
    """One reading. `at` is the database's clock."""

    at: datetime
    states: dict[str, int]
    types: list[TypeLine]
    minutes: list[Minute]
    failing: list[Row]
    tenants: list[TenantLine]
    tenants_active: int
    workers: list[WorkerLine]
    pauses: list[PauseLine]
    live: list[Row]
    silent: int
    rate_seconds: float
    heads_cut: bool = False
    due: int = 0
    handled: frozenset[str] = field(default_factory=frozenset)

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
    def workers_live(self) -> list[WorkerLine]:
        return [line for line in self.workers if line.alive]


def read() -> Snapshot:
    """Reads a snapshot: a fixed number of bounded statements. Raises `TooSlow`."""
    with limited():
        now = database_now()
        states = counts.by_type_and_state()
        live = _live_runs()
        since = now.replace(second=0, microsecond=0) - timedelta(minutes=MINUTES)
        flow = _flow(since)
        oldest_type, oldest_tenant, cut = _heads()
        in_force = pauses.active()
        registry = workers.lines(live)
        tenants, active = _tenants(live, oldest_tenant)
        rate_from = now.replace(second=0, microsecond=0) - timedelta(minutes=RATE_MINUTES)
        rate_seconds = (now - rate_from).total_seconds()
        return Snapshot(
            at=now,
            states=_sum_states(states),
            types=_type_lines(states, flow, oldest_type, in_force, rate_from, rate_seconds),
            minutes=_minute_lines(flow, since),
            failing=_failing(since),
            tenants=tenants,
            tenants_active=active,
            workers=registry,
            pauses=[_pause_line(one, live) for one in in_force],
            live=live,
            silent=_silent(),
            rate_seconds=rate_seconds,
            heads_cut=cut,
            due=_due(),
            handled=frozenset(name for line in registry if line.alive for name in line.types),
        )


def _sum_states(rows: list[Row]) -> dict[str, int]:
    total: dict[str, int] = defaultdict(int)
    for row in rows:
        total[row["state"]] += row["n"]
    return dict(total)


def _live_runs() -> list[Row]:
    """What runs now, by tenant, type and worker: bounded by the workers' slots."""
    return fetch(
        f"""SELECT "tenantId" AS tenant_id, type, "projectId" AS project_id, "workerId" AS worker_id, inline, count(*) AS n
              FROM "PlatformJob" WHERE status IN {_LIVE}
             GROUP BY 1, 2, 3, 4, 5 LIMIT 20000"""  # noqa: S608
    )


def _flow(since: datetime) -> list[Row]:
    return fetch(
        f"""SELECT minute, type,
                   coalesce(sum(n) FILTER (WHERE to_state = 'QUEUED'), 0)::bigint AS entered,
                   coalesce(sum(n) FILTER (WHERE from_state = 'QUEUED'), 0)::bigint AS left_,
                   coalesce(sum(n) FILTER (WHERE to_state = 'DONE'), 0)::bigint AS done,
                   coalesce(sum(n) FILTER (WHERE from_state IN {_LIVE} AND to_state IN {_FAILED}), 0)::bigint AS failed
              FROM ({counts.CHANGES}) c GROUP BY 1, 2""",  # noqa: S608
        {"since": since},
    )


def _failing(since: datetime) -> list[Row]:
    return fetch(
        f"""SELECT type, failure_type, sum(n)::bigint AS n, count(DISTINCT tenant_id) AS tenants,
                   coalesce(sum(n) FILTER (WHERE to_state = 'DEAD_LETTERED'), 0)::bigint AS dead
              FROM ({counts.CHANGES}) c
             WHERE from_state IN {_LIVE} AND to_state IN {_FAILED}
             GROUP BY 1, 2 ORDER BY n DESC, 1, 2 LIMIT 50""",  # noqa: S608
        {"since": since},
    )


_HEADS = """
WITH RECURSIVE head AS (
    (SELECT type, -priority AS level, "tenantId" AS tenant, coalesce("requeuedAt", "queuedAt") AS since
       FROM "PlatformJob" WHERE status = 'QUEUED' AND "nextRetryAt" IS NULL
      ORDER BY type, -priority, "tenantId", coalesce("requeuedAt", "queuedAt"), id LIMIT 1)
    UNION ALL
    SELECT n.type, n.level, n.tenant, n.since
      FROM head h
     CROSS JOIN LATERAL (
           SELECT type, -priority AS level, "tenantId" AS tenant, coalesce("requeuedAt", "queuedAt") AS since
             FROM "PlatformJob"
            WHERE status = 'QUEUED' AND "nextRetryAt" IS NULL
              AND (type, -priority, "tenantId") > (h.type, h.level, h.tenant)
            ORDER BY type, -priority, "tenantId", coalesce("requeuedAt", "queuedAt"), id LIMIT 1) n
)
SELECT type, tenant, since FROM head LIMIT %(most)s
"""


def _heads() -> tuple[dict[str, datetime], dict[str, datetime], bool]:
    """Since when the longest waiting job waits, by type and by tenant, by jumping along the claim's own index."""
    rows = fetch(_HEADS, {"most": MOST_HEADS})
    types: dict[str, datetime] = {}
    tenants: dict[str, datetime] = {}
    for row in rows:
        types[row["type"]] = min(row["since"], types.get(row["type"], row["since"]))
        tenants[row["tenant"]] = min(row["since"], tenants.get(row["tenant"], row["since"]))
    return types, tenants, len(rows) >= MOST_HEADS


def _type_lines(
    states: list[Row],
    flow: list[Row],
    oldest: dict[str, datetime],
    in_force: list[PauseInForce],
    rate_from: datetime,
    rate_seconds: float,
) -> list[TypeLine]:
    lines: dict[str, TypeLine] = {}
    for row in states:
        if row["state"] == "QUEUED":
            lines[row["type"]] = TypeLine(row["type"], queued=row["n"])
    for row in flow:
        if row["minute"] >= rate_from and (row["entered"] or row["left_"]):
            line = lines.setdefault(row["type"], TypeLine(row["type"]))
            line.entered += row["entered"] * 60 / rate_seconds
            line.left += row["left_"] * 60 / rate_seconds
    for line in lines.values():
        line.oldest = oldest.get(line.type)
        line.held = any(holds(one, line.type) for one in in_force)
    return sorted(lines.values(), key=lambda line: (-line.queued, -line.entered, line.type))


def holds(pause: PauseInForce, type_: str) -> bool:
    """Does this pause hold a whole type?"""
    return pause.tenant_id is None and pause.project_id is None and pause.type in {None, type_}


def _minute_lines(flow: list[Row], since: datetime) -> list[Minute]:
    total: dict[datetime, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for row in flow:
        for place, name in enumerate(("entered", "left_", "done", "failed")):
            total[row["minute"]][place] += row[name]
    minutes = [since + timedelta(minutes=step) for step in range(MINUTES)]
    return [Minute(minute, *total.get(minute, [0, 0, 0, 0])) for minute in minutes]


def _tenants(live: list[Row], oldest: dict[str, datetime]) -> tuple[list[TenantLine], int]:
    rows = fetch(
        f"""SELECT tenant_id, n, count(*) OVER () AS tenants
              FROM (SELECT tenant_id, sum(n)::bigint AS n FROM ({counts.STATES}) c
                     WHERE state = 'QUEUED' GROUP BY 1 HAVING sum(n) > 0) q
             ORDER BY n DESC, tenant_id LIMIT {TOP}"""  # noqa: S608
    )
    running: dict[str, int] = defaultdict(int)
    for row in live:
        if not row["inline"]:
            running[row["tenant_id"]] += row["n"]
    lines = {row["tenant_id"]: TenantLine(row["tenant_id"], queued=row["n"]) for row in rows}
    for tenant in sorted(oldest, key=lambda name: oldest[name])[:3] + sorted(running, key=lambda n: -running[n])[:TOP]:
        if len(lines) < TOP:
            lines.setdefault(tenant, TenantLine(tenant))
    caps = tenant_caps(list(lines))
    for line in lines.values():
        line.running, line.oldest = running.get(line.tenant, 0), oldest.get(line.tenant)
        line.cap = caps.get(line.tenant)
    ordered = sorted(lines.values(), key=lambda line: (line.oldest is None, line.oldest, -line.running))
    waiting = int(rows[0]["tenants"]) if rows else 0
    return ordered, max(waiting, len(lines))


def tenant_caps(tenants: list[str]) -> dict[str, int | None]:
    """The caps in force of these tenants; None: unlimited."""
    rows = fetch(
        "SELECT t AS tenant, detiq_tenant_cap(t, %(cap)s) AS cap FROM unnest(%(tenants)s::text[]) AS x (t)",
        {"tenants": tenants, "cap": conf().tenant_cap},
    )
    return {row["tenant"]: row["cap"] for row in rows}


def type_caps(types: list[str]) -> dict[str, int | None]:
    """The caps in force of these types, over all tenants; None: unlimited."""
    rows = fetch(
        "SELECT t AS type, detiq_type_cap(t, %(caps)s::jsonb) AS cap FROM unnest(%(types)s::text[]) AS x (t)",
        {"types": types, "caps": json.dumps({"DISCOVER": conf().discover_cap})},
    )
    return {row["type"]: row["cap"] for row in rows}


def _pause_line(pause: PauseInForce, live: list[Row]) -> PauseLine:
    running = sum(
        row["n"]
        for row in live
        if pause.type in {None, row["type"]}
        and pause.tenant_id in {None, row["tenant_id"]}
        and pause.project_id in {None, row["project_id"]}
    )
    held = None if pause.project_id else counts.queued_in(pause.type, pause.tenant_id)
    return PauseLine(pause, held, running)


def _silent() -> int:
    row = fetch_one(
        f"""SELECT count(*) AS n FROM "PlatformJob"
             WHERE status IN {_LIVE}
               AND coalesce("heartbeatAt", "startedAt", "queuedAt") < clock_timestamp() - make_interval(secs => %(secs)s)""",  # noqa: S608
        {"secs": workers.silent_after().total_seconds()},
    )
    return int(row["n"]) if row else 0


def _due() -> int:
    row = fetch_one(
        """SELECT count(*) AS n FROM (
               SELECT 1 FROM "PlatformJob"
                WHERE status = 'RETRY_WAIT' AND "nextRetryAt" < clock_timestamp() + interval '1 hour' LIMIT 10000) d"""
    )
    return int(row["n"]) if row else 0


class Shared:
    """One reading for all who ask at the same time: a hundred open dashboards cost the database what one costs.

    A reading serves until it is `longest` seconds old, or a change was announced after it began; but at most one is
    made every `shortest` seconds.
    """

    def __init__(self, longest: float = 1.0, shortest: float = 0.1) -> None:
        self._longest, self._shortest = longest, shortest
        self._lock = threading.Lock()
        self._value: Any = None
        self._read_at = float("-inf")
        self._changes = 0
        self._seen = -1

    def changed(self) -> None:
        """Something changed: what was read before must not serve those who ask from now on."""
        self._changes += 1

    def get(self) -> Snapshot:
        """A snapshot that holds every change announced before the call."""
        with self._lock:
            age = time.monotonic() - self._read_at
            if age < self._shortest and self._seen < self._changes:
                time.sleep(self._shortest - age)
            if self._value is None or self._seen < self._changes or age > self._longest:
                seen = self._changes
                self._value = read()
                self._seen, self._read_at = seen, time.monotonic()
            value: Snapshot = self._value
            return value

    def clear(self) -> None:
        """Forgets; for tests and after an action of this process."""
        self._value, self._read_at = None, float("-inf")


shared = Shared()
