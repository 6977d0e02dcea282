"""`tracked_job`: a job for work that the caller does itself, in any Django process.

    with tracked_job("IMPORT_TESTS", "acme", config={"file": name}) as job:
        for number, test in enumerate(tests):
            job.raise_if_cancelled()
            store(test)
            job.progress(100 * number // len(tests), f"test {number}")
        job.set_result({"tests": len(tests)})

The job is RUNNING at once and takes no worker's slot. What the block raises is judged as a handler's error would be, and
raised on. A retry, and what is left when this process dies, runs on a worker that has a handler for the type.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings

from jobs.conf import conf
from jobs.domain.errors import JobStopped, StopRun
from jobs.domain.outcomes import Outcome
from jobs.handlers.context import JobContext
from jobs.queue.connections import connector
from jobs.workers.active import ActiveRun
from jobs.workers.tracker import Tracker


class TrackedJob(JobContext):
    """What the block may say of its job; heartbeats are sent for it. Also carries the result."""

    result: Any = None

    def set_result(self, value: Any) -> None:
        """What the job ends with when the block does. JSON; what cannot be stored is cleaned, and the history says so."""
        self.result = value


@contextmanager
def tracked_job(
    type: str,
    tenant: str,
    *,
    project: str | None = None,
    config: dict[str, Any] | None = None,
    name: str = "",
    submitted_by: str | None = None,
) -> Iterator[TrackedJob]:
    """Runs the block as an inline job of `type` for `tenant`, outside any transaction of the caller's.

    Returns when the end is recorded, which waits while the database is away. Raises `InvalidInput` for what cannot be
    stored; whatever the block raises; and `JobStopped` instead of the `StopRun` by which the block was told to stop
    (`job.raise_if_cancelled()`, `job.progress(…)`), since an ordinary program handles ordinary exceptions.
    """
    tracker = _tracker()
    active = tracker.begin(
        type=type, tenant_id=tenant, project_id=project, config=config, name=name, submitted_by=submitted_by
    )
    job = tracker.runner.context(active, TrackedJob)
    try:
        yield job
    except BaseException as error:
        if os.getpid() != tracker.pid:  # a forked child leaves its parent's job alone
            raise
        tracker.end(active, _outcome(tracker, active, error))
        if isinstance(error, StopRun) and active.stop.reason is not None:
            raise JobStopped(job.id, str(error) or type_name(error)) from error
        raise
    if os.getpid() == tracker.pid:
        tracker.end(active, tracker.runner.returned(job.result))


def _outcome(tracker: Tracker, active: ActiveRun, error: BaseException) -> Outcome | None:
    if isinstance(error, StopRun) and active.stop.reason is None:  # meant for the run around this one
        return tracker.stopped_around(active, error)
    return tracker.runner.raised(active, error)


def type_name(error: BaseException) -> str:
    """What stopped it, in the words of its class: `JobCancelled` is `job cancelled`."""
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in type(error).__name__)
    return words.strip()


# --- One tracker a process --------------------------------------------------------------------------------------------

_current: Tracker | None = None
_lock = threading.Lock()
# Kept, so that no child ever closes a connection that is its parent's.
_inherited: list[Tracker] = []


def _tracker() -> Tracker:
    global _current
    with _lock:
        if _current is None:
            _current = Tracker(conf(), connector(settings.DATABASES["default"]))
        return _current


def _forget_parents() -> None:
    global _current, _lock
    _lock = threading.Lock()  # another thread of the parent may have held it
    if _current is not None:
        _inherited.append(_current)
        _current = None


os.register_at_fork(after_in_child=_forget_parents)
