"""One reading for all who ask."""

import threading
import time
from collections.abc import Callable


class Shared[T]:
    """One reading for all who ask at the same time: a hundred open dashboards cost the database what one costs.

    A reading serves until it is `longest` seconds old, or a change was announced after it began; but at most one is
    made every `shortest` seconds.
    """

    def __init__(self, read: Callable[[], T], longest: float = 1.0, shortest: float = 0.1) -> None:
        self._read = read
        self._longest, self._shortest = longest, shortest
        self._lock = threading.Lock()
        self._value: T | None = None
        self._read_at = float("-inf")
        self._changes = 0
        self._seen = -1

    def changed(self) -> None:
        """Something changed: what was read before must not serve those who ask from now on."""
        self._changes += 1

    def get(self) -> T:
        """A reading that holds every change announced before the call."""
        with self._lock:
            age = time.monotonic() - self._read_at
            if age < self._shortest and self._seen < self._changes:
                time.sleep(self._shortest - age)
            if self._value is None or self._seen < self._changes or age > self._longest:
                seen = self._changes
                self._value = self._read()
                self._seen, self._read_at = seen, time.monotonic()
            return self._value

    def clear(self) -> None:
        """Forgets; for tests and after an action of this process."""
        self._value, self._read_at = None, float("-inf")
