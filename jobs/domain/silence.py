"""Has a type stopped? Judged against the same hours of the weeks before. Plain arithmetic; nothing is read here."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

WEEKS = 4
# The same hour of every day will do while a type is not known for two weeks.
FEWEST_WEEKS, FEWEST_DAYS = 2, 3
_HOUR = timedelta(hours=1)
_WEEK = timedelta(days=7)
_DAY = timedelta(days=1)
# No silence is looked at for longer than this.
LONGEST = timedelta(days=7)

type Hours = Mapping[datetime, int]


def usual(hours: Hours, hour: datetime, known_since: datetime) -> float:
    """How many a quiet one among the same hours before (UTC) had: of the same weekday, or of all days when the type is
    known for less than two weeks. 0 when nothing can be said."""
    weeks = _before(hours, hour, _WEEK, WEEKS, known_since)
    if len(weeks) >= FEWEST_WEEKS:
        return _low(weeks)
    days = _before(hours, hour, _DAY, 7 * WEEKS, known_since)
    return _low(days) if len(days) >= FEWEST_DAYS else 0.0


def _before(hours: Hours, hour: datetime, step: timedelta, most: int, known_since: datetime) -> list[int]:
    found = [hour - step * number for number in range(1, most + 1)]
    return [hours.get(one, 0) for one in found if one >= known_since]


def _low(values: list[int]) -> float:
    """The lowest, of four or more the second lowest: one outage of the past does not make the hour deaf."""
    ordered = sorted(values)
    return float(ordered[1 if len(ordered) >= 4 else 0])


def missing(hours: Hours, since: datetime, now: datetime, known_since: datetime) -> float:
    """How many were due between `since` and `now`, none of which came. Hours in which few are usual add few."""
    start = max(since, now - LONGEST)
    total = 0.0
    hour = start.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    while hour < now:
        share = (min(now, hour + _HOUR) - max(start, hour)) / _HOUR
        total += share * usual(hours, hour, known_since)
        hour += _HOUR
    return total
