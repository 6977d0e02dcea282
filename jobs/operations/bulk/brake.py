"""The brake of a redrive: it stops by itself when what it releases fails again, or when live work waits too long."""

from jobs.domain.bulk import Kind
from jobs.queue import operations
from jobs.queue.operations import Taken

# Of fewer ended jobs nothing is concluded.
FEWEST = 5


def tripped(operation: Taken) -> str | None:
    """Why it has to stop, in a sentence; None: it may go on."""
    if operation.unreadable:
        return f"how it is to be done cannot be read: {', '.join(operation.unreadable)}"
    if operation.kind is not Kind.RETRY:
        return None
    return _failing(operation) or _waiting(operation)


def _failing(operation: Taken) -> str | None:
    options = operation.options
    if options.brake_percent is None:
        return None
    ended, failed = operations.samples(operation.id, options.brake_since or "-infinity", options.brake_of)
    if ended < min(FEWEST, options.brake_of) or failed * 100 < options.brake_percent * ended:
        return None
    share = failed * 100 // ended
    return f"{failed} of the last {ended} released jobs failed again, {share} %; the line is {options.brake_percent} %"


def _waiting(operation: Taken) -> str | None:
    line = operation.options.brake_wait_seconds
    if line is None:
        return None
    seconds = operations.live_wait_seconds()
    if seconds <= line:
        return None
    return f"other jobs wait up to {seconds:,.0f} s; the line is {line:,} s"
