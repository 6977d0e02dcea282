"""When a queue will be empty, as a range, or that it will not. Plain arithmetic; nothing is read here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import fmean, variance

# Below so many moves nothing is foretold.
FEWEST = 20
# How many standard errors the range is wide: nine times in ten the truth lies in it, if things go on as they did.
_WIDE = 1.65
_FARTHEST = timedelta(days=7)


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
    # even are not surer than chance makes them.
    noise = max(variance(falls), fmean(came + went for came, went in moves) / 2)
    unsure = _WIDE * math.sqrt(noise * (1 / len(falls) + rate / queued))
    soonest = timedelta(minutes=min(queued / (rate + unsure), 1e6))
    last = timedelta(minutes=queued / (rate - unsure)) if rate - unsure > queued / 1e6 else None
    if soonest > _FARTHEST:
        return Forecast(Outlook.NOT_DRAINING)
    return Forecast(Outlook.DRAINING, now + soonest, now + last if last and last < _FARTHEST else None)
