"""One reading for all who ask."""

import threading
import time
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import structlog
from django.db import Error, connections

from jobs.console.queries.db import TooSlow

log = structlog.get_logger("jobs.console")


# Every one of this process.
_all: "WeakSet[Shared[Any]]" = WeakSet()


def forget_all() -> None:
    """What was read serves nobody any more, whoever keeps it."""
    for one in list(_all):
        one.clear()


def acted() -> None:
    """Somebody did something here: what is read from now on holds it, but for what only compares and draws."""
    for one in list(_all):
        if not one.draws:
            one.changed()


class Shared[T]:
    """One reading for all who ask at the same time: a hundred open dashboards cost the database what one costs.

    A reading serves until it is `longest` seconds old, or a change was announced after it began; but at most one is
    made every `shortest` seconds. From `ahead` seconds on it is read anew beside those who ask, so that nobody waits.
    """

    def __init__(
        self,
        read: Callable[[], T],
        longest: float = 1.0,
        shortest: float = 0.1,
        ahead: float = float("inf"),
        *,
        draws: bool = False,
    ) -> None:
        """Times in seconds. `draws`: one action more or less does not show in it."""
        self.draws = draws
        self._read = read
        self._longest, self._shortest, self._ahead = longest, shortest, ahead
        self._lock = threading.Lock()
        self._value: T | None = None
        self._read_at = float("-inf")
        self._changes = 0
        self._seen = -1
        self._reader: threading.Thread | None = None
        self._failure: TooSlow | Error | None = None
        self._failed_at = float("-inf")
        _all.add(self)

    def changed(self) -> None:
        """Something changed: what was read before must not serve those who ask from now on."""
        self._changes += 1

    def get(self) -> T:
        """A reading that holds every change announced before the call. One that fails fails for all who wait for it: else
        each would wait for its own in turn."""
        asked = time.monotonic()
        with self._lock:
            if self._failure is not None and asked < self._failed_at:
                raise self._failure.with_traceback(None)
            age = time.monotonic() - self._read_at
            if age < self._shortest and self._seen < self._changes:
                time.sleep(self._shortest - age)
            if self._value is None or self._seen < self._changes or age > self._longest:
                seen = self._changes
                self._value = self._made()
                self._seen, self._read_at = seen, time.monotonic()
            elif age > self._ahead and self._reader is None:
                self._begin_ahead()
            return self._value

    def _begin_ahead(self) -> None:
        self._reader = threading.Thread(target=self._read_ahead, args=(self._read_at,), daemon=True)
        try:
            self._reader.start()
        except RuntimeError as error:  # no thread to be had: what is there serves until it is too old
            self._reader = None
            log.warning("overview.read_ahead_failed", error=str(error)[:200])

    def _made(self) -> T:
        try:
            value = self._read()
        except (TooSlow, Error) as error:
            self._failure, self._failed_at = error, time.monotonic()
            raise
        self._failure = None
        return value

    def _read_ahead(self, instead_of: float) -> None:
        """What was forgotten or read meanwhile is newer than this. A database in trouble is told to who asks next."""
        try:
            seen, began = self._changes, time.monotonic()
            value = self._read()
            with self._lock:
                if self._read_at == instead_of:
                    self._value, self._seen, self._read_at = value, seen, began
        except (TooSlow, Error) as error:
            log.warning("overview.read_ahead_failed", error=str(error)[:200])
        finally:
            connections.close_all()
            self._reader = None

    def clear(self) -> None:
        """Forgets, what is being read just now too; for tests and after an action of this process."""
        self._changes += 1
        self._value, self._read_at = None, float("-inf")
