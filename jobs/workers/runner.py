"""One job, from its claim to its outcome."""

import inspect
import json
import os
import random
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import close_old_connections

from jobs.domain.errors import JobCancelled, RunLost, RunTooLong, StopRun, WorkerStopping
from jobs.domain.failures import FailureType
from jobs.domain.outcomes import Cancelled, ClaimedJob, Completed, Outcome, Released
from jobs.domain.rules import BUILT_IN, Rule
from jobs.domain.values import clean_json
from jobs.handlers import registry
from jobs.handlers.context import JobContext
from jobs.handlers.remote import Elsewhere
from jobs.queue.sweep import lost_run
from jobs.workers.active import ActiveRun
from jobs.workers.isolated import ProcessDied, run_isolated
from jobs.workers.judge import judge, judged
from jobs.workers.link import Link
from jobs.workers.lost import say_lost
from jobs.workers.reports import Reports, RunReporter, run_logger

log = structlog.get_logger("jobs.worker")

LARGEST_RESULT_BYTES = 16 * 1024 * 1024


class BadConfig(Exception):
    """The job's config cannot be used: nothing that a retry would change."""


class NotRun(TypeError):
    """The handler gave back what would do the work if somebody ran it: nothing was done."""


@dataclass(frozen=True)
class Runner:
    """Runs jobs; holds no state of its own, so that every thread may use it."""

    reports: Reports
    link: Link
    retry_jitter: float
    rng: random.Random
    rules: Callable[[], Sequence[Rule]] = lambda: BUILT_IN

    def run(self, active: ActiveRun) -> Outcome | Elsewhere | None:
        """What the run ended in, or that a service took it; None when it is no longer ours, so that nothing may be said
        of it.

        A job that was lost with its process before gets a process of its own, unless a service does it.
        """
        if not active.job.lost_count or registry.is_elsewhere(active.job.type):
            return self.run_here(active)
        job = active.job
        try:
            return run_isolated(active)
        except StopRun as reason:
            return self._stopped(active, active.stop.reason or reason)
        except ProcessDied as death:
            return lost_run(str(death), job.type, job.retry_count, job.lost_count, self.retry_jitter, self.rng)
        except Exception as error:  # noqa: BLE001 - no process could be made, or it spoke nonsense: this run alone fails
            return self.raised(active, error)

    def run_here(self, active: ActiveRun) -> Outcome | Elsewhere | None:
        """The same, in this process.

        Whatever a handler raises is an outcome of its job, never of the worker: `SystemExit` and `MemoryError` too.
        """
        close_old_connections()
        process = os.getpid()
        try:
            function = registry.find(active.job.type)
            result = function(self.context(active))
            _end_if_forked(process)
            return result if isinstance(result, Elsewhere) else self.returned(result)
        except BaseException as error:  # noqa: BLE001
            _end_if_forked(process, error)
            return self.raised(active, error)
        finally:
            close_old_connections()

    def context[C: JobContext](self, active: ActiveRun, kind: type[C] = JobContext) -> C:  # type: ignore[assignment]
        """What the run's code receives. Raises `BadConfig`."""
        job, reporter = active.job, RunReporter(active, self.reports, self.link)
        return kind(
            id=job.run.job_id,
            type=job.type,
            tenant_id=job.tenant_id,
            project_id=job.project_id,
            config=_config(job),
            checkpoint=_checkpoint(active, self.reports, reporter),
            retry_count=job.retry_count,
            reporter=reporter,
            stop=active.stop,
            log=lambda: run_logger(active, self.reports),
            run=job.run,
        )

    def returned(self, result: Any) -> Outcome:
        """The outcome of a run that came to its end. Raises `NotRun`."""
        if inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result):
            close = getattr(result, "close", None)
            if close is not None:
                close()
            raise NotRun(f"its handler returned a {type(result).__name__} that nothing runs; it must return a result")
        clean = clean_json(result, max_bytes=LARGEST_RESULT_BYTES)
        reason = "; ".join(clean.notes)
        return Completed(None if result is None else clean.text, reason)

    def raised(self, active: ActiveRun, error: BaseException) -> Outcome | None:
        """The outcome of a run that raised; None when it is no longer ours."""
        match error:
            case StopRun():
                return self._stopped(active, active.stop.reason or error)
            case BadConfig():
                return judged(active.job, str(error), FailureType.LOGICAL, self.retry_jitter, self.rng)
            case _:
                return self._failed(active, error)

    def _stopped(self, active: ActiveRun, reason: StopRun) -> Outcome | None:
        match reason:
            case RunLost():
                say_lost(self.link, [active])
                return None
            case JobCancelled():
                return Cancelled()
            case RunTooLong():
                return judged(active.job, str(reason), FailureType.TRANSIENT, self.retry_jitter, self.rng)
            case _:
                return Released("its worker stops")

    def _failed(self, active: ActiveRun, error: BaseException) -> Outcome | None:
        """A handler that was told to stop may end in an error of its own: then it stopped, it did not fail."""
        if isinstance(active.stop.reason, (RunLost, WorkerStopping, JobCancelled)):
            log.info("run.stopped_by_error", job=active.run.job_id, error=type(error).__name__)
            return self._stopped(active, active.stop.reason)
        try:
            return judge(active.job, error, active.database_now(), self.retry_jitter, self.rng, self.rules())
        except BaseException as trouble:  # noqa: BLE001
            # Whatever stands in the way (no memory, a class that raises when it is asked for its name): the job ends.
            log.error(
                "run.error_not_judged",
                job=active.run.job_id,
                exc_info=trouble if isinstance(trouble, Exception) else None,
            )
            text = f"it failed with an error that could not be judged ({type(trouble).__name__})"
            return judged(active.job, text, FailureType.TRANSIENT, self.retry_jitter, self.rng)


def _end_if_forked(process: int, error: BaseException | None = None) -> None:
    """A child that a handler forked and that came back from it ends here: the run and its connections are its parent's."""
    if os.getpid() != process:
        if error is not None:
            traceback.print_exception(error)
        os._exit(0 if error is None else 1)


def _config(job: ClaimedJob) -> dict[str, Any]:
    try:
        config = json.loads(job.config)
    except (ValueError, RecursionError) as error:
        raise BadConfig(f"invalid input: config cannot be read: {error}") from error
    if not isinstance(config, dict):
        raise BadConfig(f"invalid input: config must be a JSON object, not {type(config).__name__}")
    return config


def _checkpoint(active: ActiveRun, reports: Reports, reporter: RunReporter) -> Any:
    """The checkpoint, or None when it cannot be read or another version of the handler wrote it: then the job starts
    over, which is better than never."""
    if active.job.checkpoint is None:
        return None
    ours = registry.version(active.job.type)
    if ours is not None and (written := reporter.checkpoint_version()) not in (None, ours):
        said = "Version %s of the handler wrote the checkpoint, and this is version %s, so the job starts over."
        run_logger(active, reports).warning(said, written, ours)
        return None
    try:
        return json.loads(active.job.checkpoint)
    except (ValueError, RecursionError) as error:
        run_logger(active, reports).warning("The checkpoint cannot be read, so the job starts over: %s", error)
        return None
