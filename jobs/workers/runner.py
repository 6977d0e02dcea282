"""One job, from its claim to its outcome."""

import json
import random
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import close_old_connections

from jobs.domain.errors import JobCancelled, RunLost, RunTooLong, StopRun, WorkerStopping
from jobs.domain.failures import FailureType
from jobs.domain.outcomes import Cancelled, ClaimedJob, Completed, Outcome, Released
from jobs.domain.values import clean_json
from jobs.handlers import registry
from jobs.handlers.context import JobContext
from jobs.queue.sweep import lost_run
from jobs.workers.active import ActiveRun
from jobs.workers.isolated import ProcessDied, run_isolated
from jobs.workers.judge import judge, judged
from jobs.workers.link import Link
from jobs.workers.reports import Reports, RunReporter, run_logger

log = structlog.get_logger("jobs.worker")

LARGEST_RESULT_BYTES = 16 * 1024 * 1024


class BadConfig(Exception):
    """The job's config cannot be used: nothing that a retry would change."""


@dataclass(frozen=True)
class Runner:
    """Runs jobs; holds no state of its own, so that every thread may use it."""

    reports: Reports
    link: Link
    retry_jitter: float
    rng: random.Random

    def run(self, active: ActiveRun) -> Outcome | None:
        """What the run ended in; None when it is no longer ours, so that nothing may be said of it.

        A job that was lost with its process before gets a process of its own.
        """
        if not active.job.lost_count:
            return self.run_here(active)
        job = active.job
        try:
            return run_isolated(active)
        except StopRun as reason:
            return self._stopped(job, active.stop.reason or reason)
        except ProcessDied as death:
            return lost_run(str(death), job.type, job.retry_count, job.lost_count, self.retry_jitter, self.rng)

    def run_here(self, active: ActiveRun) -> Outcome | None:
        """The same, in this process.

        Whatever a handler raises is an outcome of its job, never of the worker: `SystemExit` and `MemoryError` too.
        """
        close_old_connections()
        try:
            return self._completed(self._perform(active))
        except StopRun as reason:
            return self._stopped(active.job, active.stop.reason or reason)
        except BadConfig as error:
            return judged(active.job, str(error), FailureType.LOGICAL, self.retry_jitter, self.rng)
        except BaseException as error:  # noqa: BLE001
            return self._failed(active, error)
        finally:
            close_old_connections()

    def _perform(self, active: ActiveRun) -> Any:
        job = active.job
        function = registry.find(job.type)
        context = JobContext(
            id=job.run.job_id,
            type=job.type,
            tenant_id=job.tenant_id,
            project_id=job.project_id,
            config=_config(job),
            checkpoint=_checkpoint(active, self.reports),
            retry_count=job.retry_count,
            reporter=RunReporter(active, self.reports, self.link),
            stop=active.stop,
            log=lambda: run_logger(active, self.reports),
        )
        return function(context)

    def _completed(self, result: Any) -> Outcome:
        clean = clean_json(result, max_bytes=LARGEST_RESULT_BYTES)
        reason = "; ".join(clean.notes)
        return Completed(None if result is None else clean.text, reason)

    def _stopped(self, job: ClaimedJob, reason: StopRun) -> Outcome | None:
        match reason:
            case RunLost():
                log.warning("run.abandoned", job=job.run.job_id, worker=job.run.worker)
                return None
            case JobCancelled():
                return Cancelled()
            case RunTooLong():
                return judged(job, str(reason), FailureType.TRANSIENT, self.retry_jitter, self.rng)
            case _:
                return Released("its worker stops")

    def _failed(self, active: ActiveRun, error: BaseException) -> Outcome | None:
        """A handler that was told to stop may end in an error of its own: then it stopped, it did not fail."""
        if isinstance(active.stop.reason, (RunLost, WorkerStopping, JobCancelled)):
            log.info("run.stopped_by_error", job=active.run.job_id, error=type(error).__name__)
            return self._stopped(active.job, active.stop.reason)
        return judge(active.job, error, active.database_now(), self.retry_jitter, self.rng)


def _config(job: ClaimedJob) -> dict[str, Any]:
    try:
        config = json.loads(job.config)
    except (ValueError, RecursionError) as error:
        raise BadConfig(f"invalid input: config cannot be read: {error}") from error
    if not isinstance(config, dict):
        raise BadConfig(f"invalid input: config must be a JSON object, not {type(config).__name__}")
    return config


def _checkpoint(active: ActiveRun, reports: Reports) -> Any:
    """The checkpoint, or None when it cannot be read: then the job starts over, which is better than never."""
    if active.job.checkpoint is None:
        return None
    try:
        return json.loads(active.job.checkpoint)
    except (ValueError, RecursionError) as error:
        run_logger(active, reports).warning("The checkpoint cannot be read, so the job starts over: %s", error)
        return None
