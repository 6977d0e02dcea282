"""What a worker process keeps of a table: read again when somebody says that it changed, and now and then in case nobody
did."""

import time
from collections.abc import Callable
from datetime import timedelta

import psycopg
import structlog

from jobs.queue.statements import Connection
from jobs.workers.link import Link, is_outage

log = structlog.get_logger("jobs.worker")


class DueRead[T]:
    """One such read. What the database refuses is logged, and what was known stays."""

    def __init__(self, read: Callable[[Connection], T], every: timedelta, refused: str) -> None:
        """`refused` is the log's event for a read that failed."""
        self._read = read
        self._every = every.total_seconds()
        self._refused = refused
        self._next = 0.0

    def look_now(self) -> None:
        """Somebody changed it: the next look reads."""
        self._next = 0.0

    def look(self, link: Link) -> T | None:
        """What is there now; None when nothing is due, or it was refused. Raises when the database is away."""
        now = time.monotonic()
        if now < self._next:
            return None
        self._next = now + self._every
        try:
            return link.call(self._read)
        except psycopg.Error as error:
            if is_outage(error):
                self._next = 0.0
                raise
            log.exception(self._refused)
            return None
