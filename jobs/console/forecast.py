"""When a queue will be empty, as a range, or that it will not. Plain arithmetic; nothing is read here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from statistics import fmean, variance

# Below so many moves nothing is foretold.
FEWEST = 20
# How many standard errors the range is wide: nine times in ten the truth lies in it, if things go on as they did in the
# ten minutes that are looked at (Student's t, whose spread is itself only estimated).
WIDE = 1.83
_FARTHEST = timedelta(days=7)
_MOST_ALIKE = 0.8


class Outlook(StrEnum):
    """What can be said."""

    EMPTY = "empty"
    DRAINING = "draining"
    NOT_DRAINING = "not draining"
    HELD = "held"
    UNKNOWN = "too few samples"


@dataclass(frozen=True)
class Forecast:
    """`earliest` and `latest` bound the moment it is empty; `latest` None: it may not be within a week."""

    outlook: Outlook = Outlook.UNKNOWN
    earliest: datetime | None = None
    latest: datetime | None = None


def forecast(queued: int, moves: Sequence[tuple[int, int]], now: datetime, *, held: bool = False) -> Forecast:
    """From the jobs in and out of each of the last whole minutes, oldest first."""
    if not queued:
        return Forecast(Outlook.EMPTY)
    if held:
        return Forecast(Outlook.HELD)
    if sum(came + went for came, went in moves) < FEWEST or len(moves) < 2:
        return Forecast(Outlook.UNKNOWN)
    falls = [went - came for came, went in moves]
    rate = fmean(falls)
    if rate <= 0:
        return Forecast(Outlook.NOT_DRAINING)
    # The mean of the minutes seen is unsure, and so is that of the minutes to come. Arrivals that only happen to be
    # even are not surer than chance makes them; those that come in spells are less sure than their spread says.
    noise = max(variance(falls) * _spells(falls), fmean(came + went for came, went in moves) / 2)
    unsure = WIDE * math.sqrt(noise * (1 / len(falls) + rate / queued))
    soonest = timedelta(minutes=min(queued / (rate + unsure), 1e6))
    last = timedelta(minutes=queued / (rate - unsure)) if rate - unsure > queued / 1e6 else None
    if soonest > _FARTHEST:
        return Forecast(Outlook.NOT_DRAINING)
    return Forecast(Outlook.DRAINING, now + soonest, now + last if last and last < _FARTHEST else None)


def _spells(falls: Sequence[int]) -> float:
    """How many minutes say no more than one, as each is like the one before. So few minutes understate the likeness."""
    n, mean = len(falls), fmean(falls)
    spread = sum((one - mean) ** 2 for one in falls)
    if not spread:
        return 1.0
    alike = sum((one - mean) * (other - mean) for one, other in pairwise(falls)) / spread
    alike = min(_MOST_ALIKE, max(0.0, alike + (1 + 4 * alike) / n))
    return (1 + alike) / (1 - alike)
