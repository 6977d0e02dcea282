"""The ledger's drain in a worker process: right after a commit, when Huey brings the word, and every poll interval.

Both go through one `Drainer`, so that a worker that stops lets the hook under way finish and puts back what it has not
begun. The second asks nobody: an event is drained although nobody was told of it, and although Huey's queue is lost.
"""

import threading
import time
from collections.abc import Callable

import structlog
from django.db import DatabaseError, InterfaceError, close_old_connections

from jobs.conf import conf
from jobs.ledger.processor import Drained, Processor
from jobs.workers.link import Backoff

log = structlog.get_logger("jobs.ledger")

SLICE_SECONDS = 1.0


def new_processor(stopping: Callable[[], bool]) -> Processor:
    """A processor as the settings say."""
    now = conf()
    return Processor(now.ledger_max_attempts, now.ledger_stale, now.ledger_batch, stopping=stopping)


class Drainer:
    """Drains for one process, in short slices, one at a time."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._busy = threading.Lock()
        self._backoff = Backoff("ledger")
        self._next = 0.0

    def drain(self, document_id: str | None = None) -> Drained:
        """One slice; nothing in a process that stops. Raises when the database is away."""
        with self._busy:
            return new_processor(self._stop.is_set).drain(SLICE_SECONDS, document_id)

    def look(self, others_wait: Callable[[], bool]) -> None:
        """The sweep, when it is due: takes back what is stale, then drains while nobody else waits for this thread.

        Never raises: what goes wrong is logged, and tried again.
        """
        if self._stop.is_set() or time.monotonic() < self._next:
            return
        try:
            more = self._sweep(others_wait)
        except (DatabaseError, InterfaceError) as error:
            self._next = time.monotonic() + self._backoff.failed(error)
        except Exception:  # noqa: BLE001 - a sweep that fails must not end the sweeping
            log.exception("ledger.sweep_failed")
            self._next = time.monotonic() + conf().poll_interval.total_seconds()
        else:
            self._backoff.succeeded()
            self._next = 0.0 if more else time.monotonic() + conf().poll_interval.total_seconds()

    def _sweep(self, others_wait: Callable[[], bool]) -> bool:
        close_old_connections()
        with self._busy:
            new_processor(self._stop.is_set).reclaim()
        while self.drain().more and not self._stop.is_set():
            if others_wait():
                return True
        return False

    def stop(self) -> None:
        """No further hook begins."""
        self._stop.set()

    def wait_until_idle(self, seconds: float) -> bool:
        """Waits for the hook under way; false when it is not done in time: then the sweep of another worker has it."""
        if not self._busy.acquire(timeout=seconds):
            log.warning("ledger.hook_left_running")
            return False
        self._busy.release()
        return True


drainer = Drainer()
