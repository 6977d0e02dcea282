"""Every error this package raises on purpose: a small tree, whose docstrings are the messages people read."""

from collections.abc import Sequence


class JobsError(Exception):
    """Something asked of the queue was refused. The text is fit to be shown to the person who asked."""


class SettingError(JobsError):
    """An environment variable has a value that cannot be used; the text names it and what would be right."""


class InvalidInput(JobsError):
    """A value given by a person or a program cannot be stored or used; `field` names it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class JobNotFound(JobsError):
    """There is no such job."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"there is no job {job_id}")
        self.job_id = job_id


class TransitionRefused(JobsError):
    """The job was found in a state from which this transition does not lead; nothing was changed."""

    def __init__(self, transition: str, job_id: str, found: str) -> None:
        super().__init__(f"job {job_id} is already {found}; nothing changed by {transition}")
        self.transition = transition
        self.job_id = job_id
        self.found = found


class DuplicateJob(JobsError):
    """Another active job holds this unique key."""

    def __init__(self, unique_key: str, holder: str) -> None:
        super().__init__(f"unique key {unique_key} is held by job {holder}")
        self.unique_key = unique_key
        self.holder = holder


class UnknownHandler(JobsError):
    """No handler is registered for this job type."""

    def __init__(self, job_type: str, known: Sequence[str]) -> None:
        names = ", ".join(sorted(known)) or "none"
        super().__init__(f"no handler for type {job_type}; this worker has: {names}")
        self.job_type = job_type


class JobStopped(JobsError):
    """The work of a tracked job was told to stop before it was done: somebody cancelled it, it took longer than its type
    may, or it was given up for lost."""

    def __init__(self, job_id: str, why: str) -> None:
        super().__init__(f"job {job_id} was stopped: {why}")
        self.job_id = job_id


class RuleNotFound(JobsError):
    """There is no such rule."""

    def __init__(self, rule_id: int) -> None:
        super().__init__(f"there is no rule {rule_id}")
        self.rule_id = rule_id


class GroupNotFound(JobsError):
    """There is no such failure group."""

    def __init__(self, fingerprint: str) -> None:
        super().__init__(f"there is no failure group {fingerprint[:200]}")
        self.fingerprint = fingerprint


class GroupChanged(JobsError):
    """The failure group was found in another state than the person saw; nothing was changed."""

    def __init__(self, found: str) -> None:
        super().__init__(f"the group is {found} by now; nothing changed")
        self.found = found


class CapChanged(JobsError):
    """Somebody else changed this setting since it was read; nothing was changed."""

    def __init__(self, scope: str, by: str) -> None:
        super().__init__(f"{scope[:200]} was changed by {by[:200] or 'somebody'} since you opened it; nothing changed")
        self.by = by


class StillAlive(JobsError):
    """The worker of a run that is to be ended by force gave a sign of life just now; nothing was changed."""

    def __init__(self, job_id: str, seconds: float) -> None:
        super().__init__(
            f"the worker of job {job_id[:200]} is alive, its heartbeat {seconds:.0f} s old: it would go on until it "
            "notices; say that you are sure. Nothing changed"
        )
        self.seconds = seconds


class CannotResume(JobsError):
    """The job cannot go on from its checkpoint; nothing was changed."""

    def __init__(self, job_id: str, why: str) -> None:
        super().__init__(
            f"job {job_id[:200]} cannot go on from its checkpoint: {why}. It can start over. Nothing changed"
        )
        self.why = why


class OperationNotFound(JobsError):
    """There is no such operation."""

    def __init__(self, operation_id: int) -> None:
        super().__init__(f"there is no operation {operation_id}")
        self.operation_id = operation_id


class OperationRefused(JobsError):
    """The operation was found in a state that allows no such step; nothing was changed."""

    def __init__(self, step: str, operation_id: int, found: str) -> None:
        super().__init__(f"operation {operation_id} is {found}; nothing changed by {step}")
        self.found = found


class PreviewGone(JobsError):
    """There is no such preview any more; nothing was done."""

    def __init__(self, preview_id: str, minutes: int) -> None:
        super().__init__(
            f"there is no preview {preview_id[:100]}: one holds for {minutes} minutes; look again. Nothing was done"
        )


class AlreadyBegun(JobsError):
    """A preview was confirmed before; nothing more was done."""

    def __init__(self, operation_id: int) -> None:
        super().__init__(f"operation {operation_id} has already begun from this preview; nothing more was done")
        self.operation_id = operation_id


class NothingToDo(JobsError):
    """No job matches by now, so that there is nothing to do."""

    def __init__(self) -> None:
        super().__init__("no job matches by now; nothing was done")


class SetGrew(JobsError):
    """More jobs match than the person saw; nothing was done."""

    def __init__(self, expected: int, found: int) -> None:
        super().__init__(f"{found:,} jobs match by now, {expected:,} were shown; nothing was done. Look again")
        self.expected, self.found = expected, found


class StopRun(BaseException):
    """The handler has to stop now. Not an `Exception`, so that a handler's own `except Exception` cannot swallow it."""


class JobCancelled(StopRun):
    """An operator asked for this job to be cancelled."""


class RunLost(StopRun):
    """The job was taken from this worker: its run is no longer ours to finish or report."""


class WorkerStopping(StopRun):
    """The worker shuts down: save a checkpoint and return; the job is put back and goes on elsewhere."""


class RunTooLong(StopRun):
    """The job ran longer than its type may."""


class ServiceRemoved(RunTooLong):
    """The service that did the run is no longer its type's: as a run that took too long, it is tried again."""
