"""What a handler receives: the job's data and the few things it may say while it runs."""

import logging
import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

from jobs.domain.errors import RunLost, StopRun
from jobs.domain.outcomes import Run


class Reporter(Protocol):
    """Where a run's reports go. The worker gives one that writes to the database; a test may give any."""

    def progress(self, percent: int, step: str) -> None: ...
    def checkpoint(self, data: Any) -> None: ...


# Held for a moment, by whoever stops a run or begins to wait for that.
_setting = threading.Lock()


class StopSignal:
    """Set once, from any thread, when a run has to stop; carries why."""

    def __init__(self) -> None:
        # Most runs are never stopped and wait for nothing: what they would wait on is made when it is asked for.
        self._event: threading.Event | None = None
        self._lost: threading.Event | None = None
        self._reason: StopRun | None = None
        self.since: float | None = None  # monotonic seconds

    def set(self, reason: StopRun) -> None:
        """The first reason wins: what stopped the run is what its end says. But a run that is lost is lost."""
        with _setting:
            if self._reason is None or (isinstance(reason, RunLost) and not isinstance(self._reason, RunLost)):
                self._reason = reason
                self.since = time.monotonic()
            events = (self._event, self._lost if isinstance(reason, RunLost) else None)
        for event in events:
            if event is not None:
                event.set()

    @property
    def reason(self) -> StopRun | None:
        return self._reason

    def raise_if_set(self) -> None:
        """Raises the reason, if there is one."""
        if self._reason is not None:
            raise self._reason

    def wait(self, seconds: float) -> bool:
        with _setting:
            self._event = event = self._event or threading.Event()
            if self._reason is not None:
                event.set()
        return event.wait(seconds)

    def wait_lost(self, seconds: float) -> bool:
        """Waits until the run is no longer ours, whatever else stopped it; false after so many seconds."""
        with _setting:
            self._lost = event = self._lost or threading.Event()
            if isinstance(self._reason, RunLost):
                event.set()
        return event.wait(seconds)


class JobContext:
    """One run of one job, as its handler sees it. Heartbeats are sent by the worker; a handler needs none.

    `log` makes the run's logger when the first line is written: most runs write none.
    """

    def __init__(
        self,
        *,
        id: str,
        type: str,
        tenant_id: str,
        project_id: str | None,
        config: dict[str, Any],
        checkpoint: Any,
        retry_count: int,
        reporter: Reporter,
        stop: StopSignal,
        log: Callable[[], logging.Logger],
        run: Run | None = None,
    ) -> None:
        self.id = id
        self.type = type
        self.tenant_id = tenant_id
        self.project_id = project_id
        self.config = config
        self.checkpoint = checkpoint
        self.retry_count = retry_count
        self._reporter = reporter
        self._stop = stop
        self._log = log
        self.run = run

    @cached_property
    def log(self) -> logging.Logger:
        """A logger whose lines reach the job's page."""
        return self._log()

    def progress(self, percent: int, step: str) -> None:
        """Shows how far the job is: 0–100 and a step in words. Raises `StopRun` when the run has to stop."""
        self.raise_if_cancelled()
        self._reporter.progress(max(0, min(100, int(percent))), step)
        self.raise_if_cancelled()

    def save_checkpoint(self, data: Any) -> None:
        """Stores what the next run needs to go on from here. JSON. Allowed while stopping, so it raises no cancel;
        raises `RunLost` when the run is no longer ours."""
        self._reporter.checkpoint(data)

    def raise_if_cancelled(self) -> None:
        """Raises `StopRun` (`JobCancelled`, `RunLost`, `WorkerStopping`, `RunTooLong`) when the run has to stop."""
        self._stop.raise_if_set()

    def sleep(self, seconds: float) -> None:
        """Waits, but no longer than until the run has to stop, and then raises as `raise_if_cancelled` does."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self._stop.wait(left):
            pass
        self.raise_if_cancelled()

    def wait_lost(self, seconds: float) -> bool:
        """Waits until the run is no longer ours: its end was recorded by somebody else. For a run that is stopping."""
        return self._stop.wait_lost(seconds)
