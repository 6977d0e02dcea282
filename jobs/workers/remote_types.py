"""Which job types another service runs, as a worker process knows them."""

from collections.abc import Callable
from datetime import timedelta

import structlog

from jobs.handlers import registry
from jobs.handlers.remote import run as run_elsewhere
from jobs.queue import remote
from jobs.workers.due import DueRead
from jobs.workers.link import Link

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
        self._due = DueRead(remote.types, every, "remote.types_not_read")
        self._reachable = reachable
        self._changed = changed
        self._gone = gone
        self._known: list[str] = []

    def look_now(self) -> None:
        """Somebody changed a type."""
        self._due.look_now()

    def refresh(self, link: Link) -> None:
        """Reads the types if that is due. Raises when the database is away."""
        found = self._due.look(link)
        if found is not None and found != self._known:
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
                self.look_now()
                raise
        if gone := set(self._known) - set(found):
            self._gone(gone)
        self._known = found
