"""The ledger's drain in a worker process: right after a commit, when Huey brings the word, and every poll interval.

Hooks run in a thread of their own, the lane, and the thread that waits for it gives up a hook that takes too long.
Both ways go through one `Drainer`, so that a worker that stops lets the hook under way finish and puts back what it has not
begun. The second asks nobody: an event is drained although nobody was told of it, and although Huey's queue is lost.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

import structlog
from django.db import DatabaseError, InterfaceError, close_old_connections

from jobs.conf import conf
from jobs.ledger import hooks
from jobs.ledger.processor import Drained, Processor
from jobs.workers.lane import Lane
from jobs.workers.link import Backoff

log = structlog.get_logger("jobs.ledger")

SLICE_SECONDS = 1.0


def new_processor(stopping: Callable[[], bool], hanging: Callable[[str], int] = lambda hook_type: 0) -> Processor:
    """A processor as the settings say."""
    now = conf()
    return Processor(now.ledger_max_attempts, now.ledger_stale, now.ledger_batch, stopping=stopping, hanging=hanging)


class Drainer:
    """Drains for one process, in short slices, one at a time."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._busy = threading.Lock()
        self._backoff = Backoff("ledger")
        self._next = 0.0
        self._lane: Lane | None = None
        self._given_up: list[tuple[str, threading.Thread]] = []

    def drain(self, document_id: str | None = None) -> Drained:
        """One slice; nothing in a process that stops. Raises when the database is away."""
        return self._slice(SLICE_SECONDS, document_id)

    def drain_for(self, seconds: float, document_id: str | None = None) -> Drained:
        """For about so many seconds, or until nothing is left that may run."""
        total, until = Drained(), time.monotonic() + seconds
        while True:
            part = self._slice(max(0.0, min(SLICE_SECONDS, until - time.monotonic())), document_id)
            total.add(part)
            if not part.more or time.monotonic() >= until or self._stop.is_set():
                return total

    def close(self) -> None:
        """Ends the lane, unless it hangs."""
        if (lane := self._lane) is not None:
            self._lane = None
            lane.leave()
            lane.thread.join(SLICE_SECONDS)

    def reclaim(self) -> int:
        """Takes back what lost its process. Returns how many."""
        with self._busy:
            return new_processor(self._stop.is_set).reclaim()

    def _slice(self, seconds: float, document_id: str | None) -> Drained:
        with self._busy:
            processor = new_processor(self._stop.is_set, self._hanging)
            self._lane = self._lane or Lane("detiq-ledger")
            return self._watch(processor, self._lane, self._lane.submit(lambda: processor.drain(seconds, document_id)))

    def _watch(self, processor: Processor, lane: Lane, drained: "Future[Drained]") -> Drained:
        """Waits for the drain, but for no hook longer than it may take."""
        default = conf().ledger_hook_seconds
        while True:
            hook = processor.under_way
            limit = default if hook is None or hook.seconds is None else hook.seconds
            if hook is not None and time.monotonic() >= hook.since + limit:
                if (done := processor.give_up(hook, limit)) is not None:
                    self._leave(lane, hook.event.hook_type)
                    return done
                continue
            # One that begins meanwhile cannot be late before the shortest limit is over.
            wait = hooks.shortest_limit(default) if hook is None else hook.since + limit - time.monotonic()
            try:
                return drained.result(max(0.01, wait))
            except TimeoutError:
                if drained.done():  # it is its own error, or it has just come
                    return drained.result()

    def _leave(self, lane: Lane, hook_type: str) -> None:
        lane.leave()
        self._lane = None
        self._given_up.append((hook_type, lane.thread))

    def _hanging(self, hook_type: str) -> int:
        """Runs of a hook type that were given up and have not returned."""
        self._given_up = [one for one in self._given_up if one[1].is_alive()]
        return sum(name == hook_type for name, _ in self._given_up)

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
        self.reclaim()
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
