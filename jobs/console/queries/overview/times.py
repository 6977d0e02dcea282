"""How long jobs wait and run: percentiles from the buckets that the triggers count in."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.console.percentiles import BUCKETS, percentile
from jobs.console.queries.db import fetch
from jobs.console.queries.rollups import FLOW, LIVE

STEP_MINUTES = 5


@dataclass(frozen=True)
class Spread:
    """Half, and nineteen of twenty, took no longer than this, in seconds; None: there was none."""

    at: datetime
    n: int
    p50: float | None
    p95: float | None


@dataclass(frozen=True)
class Times:
    """Waits until a start, and runs until their end, in steps of `STEP_MINUTES`, and over the whole time."""

    waits: list[Spread]
    runs: list[Spread]
    wait: Spread
    run: Spread


def times(now: datetime, minutes: int = 60) -> Times:
    """Of the last `minutes`."""
    end = now.replace(minute=now.minute - now.minute % STEP_MINUTES, second=0, microsecond=0)
    since = end - timedelta(minutes=minutes)
    rows = fetch(
        f"""SELECT date_bin(make_interval(mins => {STEP_MINUTES}), minute, %(since)s) AS at,
                   from_state = 'QUEUED' AS waited, bucket, sum(n)::bigint AS n
              FROM ({FLOW}) c
             WHERE from_state = 'QUEUED' AND to_state = 'RUNNING'
                OR from_state IN {LIVE} AND to_state NOT IN ('CANCEL_REQUESTED', 'QUEUED', '')
             GROUP BY 1, 2, 3""",  # noqa: S608
        {"since": since},
    )
    found: dict[tuple[bool, datetime | None], list[int]] = defaultdict(lambda: [0] * BUCKETS)
    for row in rows:
        place = min(max(row["bucket"], 0), BUCKETS - 1)
        found[row["waited"], row["at"]][place] += row["n"]
        found[row["waited"], None][place] += row["n"]
    steps = [
        since + timedelta(minutes=step)
        for step in range(0, minutes + STEP_MINUTES, STEP_MINUTES)
        if since + timedelta(minutes=step) <= now
    ]
    return Times(
        waits=[_spread(at, found[True, at]) for at in steps],
        runs=[_spread(at, found[False, at]) for at in steps],
        wait=_spread(since, found[True, None]),
        run=_spread(since, found[False, None]),
    )


def _spread(at: datetime, buckets: list[int]) -> Spread:
    return Spread(at, sum(buckets), percentile(buckets, 0.5), percentile(buckets, 0.95))
