"""Tells a worker that an operation has something to do. Who does the telling is said at start-up: nothing here knows a
task queue. A word that is lost only costs time; operations that nobody moves are looked for."""

from collections.abc import Callable

import psycopg
import structlog
from django.db import transaction

log = structlog.get_logger("jobs.operations")

_tell: Callable[[int], None] | None = None


def register(tell: Callable[[int], None]) -> None:
    """How a worker is told."""
    global _tell
    _tell = tell


def wake(operation_id: int) -> None:
    """A worker is told once the caller's transaction is committed."""
    transaction.on_commit(lambda: _wake(operation_id))


def _wake(operation_id: int) -> None:
    if _tell is None:
        return
    try:
        _tell(operation_id)
    except (psycopg.Error, OSError) as error:
        log.warning("operation.not_told", operation=operation_id, error=str(error)[:200])
