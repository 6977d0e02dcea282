"""What a job says while it runs, at a rate that a person can read and a database can bear."""

import logging
import time
from collections import Counter
from typing import Any

from jobs.handlers.context import JobContext

EVERY_SECONDS = 0.5
LINES_PER_KIND = 20

type Log = logging.Logger | logging.LoggerAdapter[Any]


class Progress:
    """Passes progress on at most twice a second, and never backwards: a crawl finds more to do while it works."""

    def __init__(self, job: JobContext) -> None:
        self._job = job
        self._next = 0.0
        self._percent = 0

    def show(self, percent: float, step: str, *, now: bool = False) -> None:
        """Raises `StopRun` when the run has to stop, also when nothing is passed on."""
        self._job.raise_if_cancelled()
        self._percent = max(self._percent, min(100, int(percent)))
        if now or time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY_SECONDS
            self._job.progress(self._percent, step)


class Notices:
    """Log lines by kind; a kind that comes too often is counted instead."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._seen: Counter[str] = Counter()

    def note(self, kind: str, message: str, *args: object) -> None:
        self._seen[kind] += 1
        if self._seen[kind] <= LINES_PER_KIND:
            self._log.info(message, *args)
        elif self._seen[kind] == LINES_PER_KIND + 1:
            self._log.info("more of this kind is counted, not logged: %s", kind)

    def close(self) -> None:
        """Says how much was left out."""
        for kind, count in self._seen.items():
            if count > LINES_PER_KIND:
                self._log.info("%s: %d in all", kind, count)
