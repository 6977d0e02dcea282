"""What is failing? The causes of the last hour, beside what is usual."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobs.console.queries import groups
from jobs.console.queries.db import fetch, fetch_one
from jobs.console.queries.groups import GroupLine
from jobs.console.queries.rollups import CAUSES
from jobs.rows import Row

USUAL_DAYS = 7
# What is less than a day old has no usual.
FEWEST_HOURS = 24
HEAT_HOURS = 24
HEAT_TYPES = 8

__all__ = ["Failing", "GroupLine", "Heat", "Kind", "failing", "open_groups"]


@dataclass(frozen=True)
class Kind:
    """A failure type, in the last hour and in a usual one. `usual` None: not known for long enough to say."""

    failure_type: str
    n: int
    dead: int
    usual: float | None


@dataclass(frozen=True)
class Heat:
    """Failed runs of a type in each of the last hours, the running one last."""

    type: str
    hours: list[int]

    @property
    def n(self) -> int:
        """Of all hours."""
        return sum(self.hours)


@dataclass(frozen=True)
class Failing:
    """One reading. `first_hour` is when the heat map begins (UTC)."""

    groups: list[GroupLine] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    heat: list[Heat] = field(default_factory=list)
    first_hour: datetime | None = None

    @property
    def n(self) -> int:
        """Failed runs of the last hour."""
        return sum(kind.n for kind in self.kinds)

    @property
    def dead(self) -> int:
        """Jobs that went to the dead-letter queue in the last hour."""
        return sum(kind.dead for kind in self.kinds)

    @property
    def usual(self) -> float | None:
        """Failed runs of a usual hour."""
        known = [kind.usual for kind in self.kinds if kind.usual is not None]
        return sum(known) if known else None


def failing(now: datetime, top: int) -> Failing:
    """The last hour's causes, kinds and the last day's heat map."""
    hour = now - timedelta(hours=1)
    first = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=HEAT_HOURS - 1)
    return Failing(
        groups=groups.of_span(groups.SPANS["1h"], now, most=top),
        kinds=_kinds(now, hour),
        heat=_heat(first),
        first_hour=first,
    )


def _kinds(now: datetime, hour: datetime) -> list[Kind]:
    since = {"since": hour.replace(second=0, microsecond=0), "grain": "m"}
    rows = _by_type(since)
    before = now.replace(minute=0, second=0, microsecond=0)
    usual = {
        row["failure_type"]: row["n"]
        for row in _by_type({"since": before - timedelta(days=USUAL_DAYS), "grain": "h"}, before)
    }
    known = known_hours(before)
    found = {row["failure_type"]: row for row in rows}
    kinds = [
        Kind(
            name,
            n=found[name]["n"] if name in found else 0,
            dead=found[name]["dead"] if name in found else 0,
            usual=usual.get(name, 0) / known if known >= FEWEST_HOURS else None,
        )
        for name in {*found, *usual}
    ]
    return sorted(kinds, key=lambda kind: (-kind.n, -(kind.usual or 0), kind.failure_type))


def _by_type(params: Row, before: datetime | None = None) -> list[Row]:
    return fetch(
        f"""SELECT failure_type, sum(n)::bigint AS n, sum(dead)::bigint AS dead FROM ({CAUSES}) c
             WHERE %(before)s::timestamptz IS NULL OR at < %(before)s
             GROUP BY 1 HAVING sum(n) > 0 OR sum(dead) > 0 ORDER BY n DESC, 1 LIMIT 20""",  # noqa: S608
        params | {"before": before},
    )


def known_hours(before: datetime) -> float:
    """For how many hours of the last days failures have been counted; bounded by how long the queue is known."""
    row = fetch_one("SELECT min(at) AS at FROM failure_cause WHERE grain = 'h'")
    first = row["at"] if row else None
    longest = USUAL_DAYS * 24.0
    return min(longest, max(0.0, (before - first).total_seconds() / 3600)) if first else 0.0


def _heat(first: datetime) -> list[Heat]:
    rows = fetch(
        f"""SELECT type, date_trunc('hour', at, 'UTC') AS at, sum(n)::bigint AS n FROM ({CAUSES}) c
             GROUP BY 1, 2 HAVING sum(n) > 0""",  # noqa: S608
        {"since": first, "grain": "h"},
    )
    found: dict[str, list[int]] = defaultdict(lambda: [0] * HEAT_HOURS)
    for row in rows:
        place = int((row["at"] - first).total_seconds() // 3600)
        if 0 <= place < HEAT_HOURS:
            found[row["type"]][place] += row["n"]
    lines = sorted((Heat(type_, hours) for type_, hours in found.items()), key=lambda heat: (-heat.n, heat.type))
    rest = lines[HEAT_TYPES - 1 :] if len(lines) > HEAT_TYPES else []
    if rest:
        other = [sum(hours) for hours in zip(*(heat.hours for heat in rest), strict=True)]
        lines = [*lines[: HEAT_TYPES - 1], Heat(f"{len(rest)} other types", other)]
    return lines


def open_groups() -> dict[str, int]:
    """How many groups are new or have regressed; counted up to 1,000."""
    rows = fetch(
        """SELECT state, count(*) AS n
             FROM (SELECT state FROM failure_group WHERE state IN ('NEW', 'REGRESSED') LIMIT 1000) g GROUP BY 1"""
    )
    return {row["state"]: row["n"] for row in rows}
