"""Which job types another service runs, as a worker process knows them: read again when somebody says that they changed,
and now and then in case nobody did."""

import time
from collections.abc import Callable
from datetime import timedelta

import psycopg
import structlog

from jobs.handlers import registry
from jobs.handlers.remote import run as run_elsewhere
from jobs.queue import remote
from jobs.workers.link import Link, is_outage

log = structlog.get_logger("jobs.worker")


class RemoteTypes:
    """Keeps the registry of this process as the table says."""

    def __init__(
        self,
        every: timedelta,
        reachable: bool,
        changed: Callable[[list[str]], None] = lambda types: None,
        gone: Callable[[set[str]], None] = lambda types: None,
    ) -> None:
        """`reachable`: is there an address for callbacks? Without one no such type is taken, and its jobs wait.
        `changed` gets all types of this process whenever they are others than before, `gone` those just taken away."""
        self._every = every.total_seconds()
        self._reachable = reachable
        self._changed = changed
        self._gone = gone
        self._next = 0.0
        self._known: list[str] = []

    def look_now(self) -> None:
        """Somebody changed a type."""
        self._next = 0.0

    def refresh(self, link: Link) -> None:
        """Reads the types if that is due. Raises when the database is away."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._every
        try:
            found = link.call(remote.types)
        except psycopg.Error as error:
            if is_outage(error):
                self._next = 0.0
                raise
            log.exception("remote.types_not_read")
            return
        if found != self._known:
            self._take(found)

    def _take(self, found: list[str]) -> None:
        before = registry.types()
        if found and not self._reachable:
            log.error("remote.not_served", types=found, why="DETIQ_PUBLIC_URL is not set: services could not call back")
        registry.serve_elsewhere(found if self._reachable else [], run_elsewhere)
        if registry.types() != before:
            try:
                self._changed(registry.types())
            except BaseException:
                self._next = 0.0
                raise
        if gone := set(self._known) - set(found):
            self._gone(gone)
        self._known = found
