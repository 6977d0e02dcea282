"""How fast a redrive may go now: by its rate, led up to while what it releases ends well, and by the workers' idle slots."""

from dataclasses import dataclass

from jobs.conf import conf
from jobs.domain.bulk import Options
from jobs.queue import operations

# Shares of the rate. Each step up needs so many good ends among the last; when they fail again it goes down by itself.
STEPS = (0.1, 0.25, 0.5, 1.0)
FEWEST, MOST = 5, 20


@dataclass(frozen=True)
class Pace:
    """`rate`: jobs a minute, None: as it goes. `room`: jobs that may join now, None: any number."""

    rate: float | None = None
    step: int = len(STEPS) - 1
    room: int | None = None

    @property
    def share_percent(self) -> int:
        """Of the rate that was chosen."""
        return round(STEPS[self.step] * 100)


def pace(operation_id: int, options: Options) -> Pace:
    """What holds at this moment."""
    step = _step(operation_id, options) if options.ramp and options.rate else len(STEPS) - 1
    rate = None if options.rate is None else max(1.0, options.rate * STEPS[step])
    return Pace(rate, step, _room(operation_id, options.idle_percent))


def good_ends(options: Options) -> int:
    """So many make a step."""
    return max(FEWEST, min(options.brake_of // 5, MOST))


def _step(operation_id: int, options: Options) -> int:
    most = len(STEPS) - 1
    each = good_ends(options)
    ended, failed = operations.samples(operation_id, options.brake_since or "-infinity", each * most)
    return min(most, (ended - failed) // each)


def _room(operation_id: int, percent: int | None) -> int | None:
    if percent is None:
        return None
    crew = operations.crew(operation_id, 3 * conf().heartbeat_interval.total_seconds())
    may_use = max(1, crew.idle * percent // 100) if crew.idle else 0
    return max(0, may_use - crew.ours)
