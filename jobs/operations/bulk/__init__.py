"""Work on many jobs at once: begun and steered by people, done in small batches by whichever worker has time."""

from jobs.operations.bulk.pace import Pace, good_ends, pace
from jobs.operations.bulk.start import Started, begun, start
from jobs.operations.bulk.steer import pause, resume, stop
from jobs.operations.bulk.work import Progress, abandoned, new_runner, work

__all__ = [
    "Pace",
    "Progress",
    "Started",
    "abandoned",
    "begun",
    "good_ends",
    "new_runner",
    "pace",
    "pause",
    "resume",
    "start",
    "stop",
    "work",
]
