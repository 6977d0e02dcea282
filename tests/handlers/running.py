"""One run of a handler with an in-memory reporter, as the worker would make it."""

import logging
import threading
import time
from collections.abc import Callable
from ipaddress import ip_network
from typing import Any

from jobs.domain.errors import StopRun
from jobs.handlers.context import JobContext, StopSignal

LOOPBACK = (ip_network("127.0.0.0/8"),)


class Recorder:
    """A reporter that remembers. `on_checkpoint` and `on_progress` may stop the run or raise."""

    def __init__(self) -> None:
        self.steps: list[tuple[float, int, str]] = []
        self.checkpoints: list[Any] = []
        self.on_checkpoint: Callable[[Any], None] = lambda data: None
        self.on_progress: Callable[[int, str], None] = lambda percent, step: None

    def progress(self, percent: int, step: str) -> None:
        self.steps.append((time.monotonic(), percent, step))
        self.on_progress(percent, step)

    def checkpoint(self, data: Any) -> None:
        self.checkpoints.append(data)
        self.on_checkpoint(data)


class Run:
    """One run of a handler: `Run(config).start(function)`, or `job` to call it yourself."""

    def __init__(self, config: dict[str, Any], checkpoint: Any = None) -> None:
        self.recorder = Recorder()
        self.stop = StopSignal()
        self.job = JobContext(
            id="job-1",
            type="CRAWL",
            tenant_id="acme",
            project_id=None,
            config=config,
            checkpoint=checkpoint,
            retry_count=0,
            reporter=self.recorder,
            stop=self.stop,
            log=lambda: logging.getLogger("tests.job"),
        )

    def stop_after(self, seconds: float, reason: StopRun) -> None:
        threading.Timer(seconds, self.stop.set, [reason]).start()
