"""What a handler reports: kept in memory for a moment, so that a handler may report as often as it likes, and written
for all runs together. A checkpoint is different: when `checkpoint` returns, it is stored.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import psycopg
import structlog

from jobs.domain.errors import RunLost
from jobs.domain.values import clean_json, clean_text
from jobs.handlers import registry
from jobs.queue import liveness
from jobs.queue.liveness import LogLine, Progress
from jobs.workers.active import ActiveRun
from jobs.workers.link import Backoff, Link, is_outage, may_pass

log = structlog.get_logger("jobs.worker")

LONGEST_STEP = 500
LONGEST_LOG_MESSAGE = 4_000
MOST_LOG_LINES_OF_A_RUN = 5_000
MOST_LOG_LINES_WAITING = 20_000
LARGEST_CHECKPOINT_BYTES = 16 * 1024 * 1024


class Reports:
    """The reports of one process, waiting to be written by its pulse."""

    def __init__(self, worker_id: str) -> None:
        self._worker_id = worker_id
        self._lock = threading.Lock()
        self._progress: dict[str, Progress] = {}
        self._lines: deque[LogLine] = deque(maxlen=MOST_LOG_LINES_WAITING)

    def progress(self, report: Progress) -> None:
        with self._lock:
            self._progress[report.run.job_id] = report

    def line(self, line: LogLine) -> None:
        with self._lock:
            self._lines.append(line)

    def write(self, link: Link) -> None:
        """Writes what has come in. What cannot be written because the database is away, or somebody's lock in the way, is
        kept for the next time. Raises when the database is away."""
        with self._lock:
            progress, self._progress = self._progress, {}
            lines, self._lines = list(self._lines), deque(maxlen=MOST_LOG_LINES_WAITING)
        reports = list(progress.values())
        try:
            if reports and _written(
                len(reports),
                lambda: link.call(lambda connection: liveness.report_progress(self._worker_id, reports, connection)),
            ):
                progress = {}
            if lines and _written(
                len(lines), lambda: link.call(lambda connection: liveness.write_logs(lines, connection))
            ):
                lines = []
        finally:
            with self._lock:
                self._progress = progress | self._progress
                self._lines.extendleft(reversed(lines))


def _written(reports: int, write: Callable[[], None]) -> bool:
    """Is there nothing left to write, since it is written or will never be? Raises when the database is away."""
    try:
        write()
    except Exception as error:
        if is_outage(error):
            raise
        if may_pass(error):
            Backoff("reports").failed(error)  # says so, now and then
            return False
        log.exception("run.reports_dropped", reports=reports)  # kept, it would fail again and hold up what comes after
    return True


class RunReporter:
    """The `Reporter` of one run."""

    def __init__(self, active: ActiveRun, reports: Reports, link: Link) -> None:
        self._active = active
        self._reports = reports
        self._link = link

    def progress(self, percent: int, step: str) -> None:
        self._reports.progress(Progress(self._active.run, percent, clean_text(str(step), LONGEST_STEP)))

    def checkpoint(self, data: Any) -> None:
        """Stores a checkpoint before it returns. Outages and locked rows are waited out, unless the run has to stop."""
        text = clean_json(data, max_bytes=LARGEST_CHECKPOINT_BYTES).text
        run, version = self._active.run, registry.version(self._active.job.type)
        self._patiently(lambda connection: liveness.save_checkpoint(run, text, connection, version=version))

    def checkpoint_version(self) -> str | None:
        """What wrote the checkpoint that the run begins with."""
        return self._patiently(lambda connection: liveness.checkpoint_version(self._active.run, connection))

    def _patiently[T](self, call: Callable[[psycopg.Connection[Any]], T]) -> T:
        backoff = Backoff("checkpoint")
        while True:
            if self._active.lost:
                raise RunLost
            try:
                return self._link.call(call)
            except Exception as error:
                if not may_pass(error) or self._active.stop.reason is not None:
                    raise
                time.sleep(backoff.failed(error))


class RunLogHandler(logging.Handler):
    """Takes a run's log lines to its job's page."""

    def __init__(self, active: ActiveRun, reports: Reports) -> None:
        super().__init__(logging.INFO)
        self._active = active
        self._reports = reports
        self._left = MOST_LOG_LINES_OF_A_RUN

    def emit(self, record: logging.LogRecord) -> None:
        if self._left < 0:
            return
        try:
            message = self.format(record) if self._left else "More lines are not kept."
        except Exception:  # noqa: BLE001 - a line that cannot be put together must not end the job that logs it
            message = f"{record.msg} (this line's values do not fit its text)"
        self._left -= 1
        self._reports.line(
            LogLine(
                self._active.run,
                self._active.database_now(),
                record.levelname,
                clean_text(message, LONGEST_LOG_MESSAGE),
            )
        )


_RUN_LOG = logging.getLogger("jobs.run")


def run_logger(active: ActiveRun, reports: Reports) -> logging.Logger:
    """A logger for one run: its lines reach the job's page and the process's log."""
    logger = logging.Logger(f"jobs.run.{active.job.type}", logging.INFO)
    logger.parent = _RUN_LOG
    logger.addHandler(RunLogHandler(active, reports))
    return logger
