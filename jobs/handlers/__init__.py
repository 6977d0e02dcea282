"""What the work is. `from jobs.handlers import handler`; a handler never touches a job's state."""

from jobs.handlers.context import JobContext
from jobs.handlers.registry import handler

__all__ = ["JobContext", "handler"]
