"""Is the queue draining? What comes in, what goes out, who waits longest, and when it will be empty."""

import time
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.console.forecast import Forecast, forecast
from jobs.console.queries.db import fetch, fetch_one
from jobs.console.queries.rollups import FAILED, FLOW, LIVE, TYPES
from jobs.queue.pauses import PauseInForce
from jobs.rows import Row

MINUTES = 60
RATE_MINUTES = 5
FORECAST_MINUTES = 10
# The oldest job of each type, priority and tenant is looked up, at most so many of a type.
MOST_HEADS = 300
FEW_HEADS = 200
KEEP_HEADS_SECONDS, KEEP_HEADS_TIMES = 5.0, 50


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
    """A job type: waiting now, and its flow a minute over the last minutes. `other`: several types as one line."""

    type: str
    queued: int = 0
    entered: float = 0
    left: float = 0
    oldest: datetime | None = None
    held: bool = False
    other: bool = False
    forecast: Forecast = field(default_factory=Forecast)

    @property
    def net(self) -> int:
        """More in than out each minute."""
        return round(self.entered) - round(self.left)


@dataclass(frozen=True)
class Head:
    """The longest waiting job of a type and tenant (at one priority)."""

    type: str
    tenant: str
    since: datetime


def states_by_type() -> list[Row]:
    """Exact counts by type and state."""
    return fetch(f"SELECT type, state, sum(n)::bigint AS n FROM ({TYPES}) c GROUP BY 1, 2 HAVING sum(n) > 0")  # noqa: S608


def flow(since: datetime) -> list[Row]:
    """The changes of each minute and type since then."""
    return fetch(
        f"""SELECT minute, type,
                   coalesce(sum(n) FILTER (WHERE to_state = 'QUEUED'), 0)::bigint AS entered,
                   coalesce(sum(n) FILTER (WHERE from_state = 'QUEUED'), 0)::bigint AS left_,
                   coalesce(sum(n) FILTER (WHERE to_state = 'DONE'), 0)::bigint AS done,
                   coalesce(sum(n) FILTER (WHERE from_state IN {LIVE} AND to_state IN {FAILED}), 0)::bigint AS failed
              FROM ({FLOW}) c GROUP BY 1, 2""",  # noqa: S608
        {"since": since},
    )


def oldest_by_type() -> dict[str, datetime]:
    """Since when the longest-waiting job of each type waits."""
    return {row["type"]: row["since"] for row in fetch("SELECT type, since FROM detiq_waits() WHERE since IS NOT NULL")}


class Heads:
    """The longest-waiting jobs of types and tenants; of each type and priority's tenants at most `MOST_HEADS`.

    Few are read anew each time. Many take their time and say nothing new within seconds: they are kept for as long as
    reading them is a small part of it.
    """

    def __init__(self) -> None:
        self._kept: list[Head] = []
        self._keep_until = float("-inf")

    def read(self) -> list[Head]:
        """The heads of now, or of some seconds ago when there are many."""
        began = time.monotonic()
        if len(self._kept) > FEW_HEADS and began < self._keep_until:
            return self._kept
        self._kept = [
            Head(**row) for row in fetch("SELECT type, tenant, since FROM detiq_heads(%(most)s)", {"most": MOST_HEADS})
        ]
        took = time.monotonic() - began
        self._keep_until = began + max(KEEP_HEADS_SECONDS, KEEP_HEADS_TIMES * took)
        return self._kept

    def clear(self) -> None:
        """Forgets."""
        self._kept, self._keep_until = [], float("-inf")


heads = Heads()


def type_lines(
    states: list[Row], flow: list[Row], oldest: dict[str, datetime], in_force: list[PauseInForce], now: datetime
) -> list[TypeLine]:
    """The types that wait or flow, with most waiting first."""
    this_minute = now.replace(second=0, microsecond=0)
    rate_from = this_minute - timedelta(minutes=RATE_MINUTES)
    rate_seconds = (now - rate_from).total_seconds()
    lines: dict[str, TypeLine] = {}
    for row in states:
        if row["state"] == "QUEUED":
            lines[row["type"]] = TypeLine(row["type"], queued=row["n"])
    for row in flow:
        if row["minute"] >= rate_from and (row["entered"] or row["left_"]):
            line = lines.setdefault(row["type"], TypeLine(row["type"]))
            line.entered += row["entered"] * 60 / rate_seconds
            line.left += row["left_"] * 60 / rate_seconds
    moves = _moves(flow, this_minute)
    for line in lines.values():
        line.oldest = oldest.get(line.type)
        line.held = any(holds(one, line.type) for one in in_force)
        line.forecast = forecast(line.queued, moves[line.type], now, held=line.held)
    return sorted(lines.values(), key=lambda line: (-line.queued, -line.entered, line.type))


def _moves(flow: list[Row], this_minute: datetime) -> dict[str, list[tuple[int, int]]]:
    """In and out of each of the last whole minutes, by type."""
    minutes = [this_minute - timedelta(minutes=step) for step in range(FORECAST_MINUTES, 0, -1)]
    place = {minute: index for index, minute in enumerate(minutes)}
    moves: dict[str, list[tuple[int, int]]] = defaultdict(lambda: [(0, 0)] * FORECAST_MINUTES)
    for row in flow:
        if row["minute"] in place:
            moves[row["type"]][place[row["minute"]]] = (row["entered"], row["left_"])
    return moves


def overall(queued: int, minutes: list[Minute], now: datetime, *, held: bool) -> Forecast:
    """When the whole queue will be empty."""
    moves = [(one.entered, one.left) for one in minutes if one.at < now.replace(second=0, microsecond=0)]
    return forecast(queued, moves[-FORECAST_MINUTES:], now, held=held)


def holds(pause: PauseInForce, type_: str) -> bool:
    """Does this pause hold a whole type?"""
    return pause.tenant_id is None and pause.project_id is None and pause.type in {None, type_}


def minute_lines(flow: list[Row], since: datetime) -> list[Minute]:
    """Every minute of the last hour, the empty ones too."""
    total: dict[datetime, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for row in flow:
        for place, name in enumerate(("entered", "left_", "done", "failed")):
            total[row["minute"]][place] += row[name]
    minutes = [since + timedelta(minutes=step) for step in range(MINUTES)]
    return [Minute(minute, *total.get(minute, [0, 0, 0, 0])) for minute in minutes]


def due_retries() -> int:
    """How many retries fall due within an hour, counted up to 10,000."""
    row = fetch_one(
        """SELECT count(*) AS n FROM (
               SELECT 1 FROM "PlatformJob"
                WHERE status = 'RETRY_WAIT' AND "nextRetryAt" < clock_timestamp() + interval '1 hour' LIMIT 10000) d"""
    )
    return int(row["n"]) if row else 0
