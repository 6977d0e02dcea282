"""Workers of other programs. Their claims obey only the flag and their own cap, and their late finishes are not fenced:
pages say so at caps and pauses while one lives."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.queue.statements import Connection, run

# More than any page can show.
MOST = 200


@dataclass(frozen=True)
class OtherWorker:
    """`id` is what it calls itself on its jobs; `heartbeat_at` its last sign of life on any of them, in UTC."""

    id: str
    running: int
    heartbeat_at: datetime


def other_workers(
    using: Connection | None = None, *, silent_after: timedelta = timedelta(minutes=2)
) -> list[OtherWorker]:
    """Workers that hold running jobs, showed a sign of life within `silent_after`, and are not in our registry.

    Reads only what runs now. One that runs nothing at the moment leaves no trace and is not found.
    """
    params = {"silent_seconds": silent_after.total_seconds(), "limit": MOST}
    return [OtherWorker(**row) for row in run("other_workers", params, using)]
