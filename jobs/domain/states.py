"""The states of a job and every way from one to another. The door, the pages, README and the tests read this table."""

from dataclasses import dataclass
from enum import StrEnum


class JobStatus(StrEnum):
    """The values of `PlatformJob.status`. Another program may write others: they are shown as they are."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    RETRY_WAIT = "RETRY_WAIT"
    CANCEL_REQUESTED = "CANCEL_REQUESTED"
    CANCELLED = "CANCELLED"
    DONE = "DONE"
    FAILED = "FAILED"


# What people see: a status, or FAILED with the `dlq` flag.
DEAD_LETTERED = "DEAD_LETTERED"

WORDS: dict[str, str] = {
    JobStatus.QUEUED: "Queued",
    JobStatus.RUNNING: "Running",
    JobStatus.RETRY_WAIT: "Retry wait",
    JobStatus.CANCEL_REQUESTED: "Cancel requested",
    JobStatus.CANCELLED: "Cancelled",
    JobStatus.DONE: "Done",
    JobStatus.FAILED: "Failed",
    DEAD_LETTERED: "Dead-lettered",
}

# What counts against a cap.
LIVE = frozenset({JobStatus.RUNNING, JobStatus.CANCEL_REQUESTED})
# What a unique key is held by.
ACTIVE = LIVE | {JobStatus.QUEUED, JobStatus.RETRY_WAIT}
# What a job ends in. FAILED is an end only once the job is in the DLQ or the sweep has nothing more to do for it.
ENDED = frozenset({JobStatus.CANCELLED, JobStatus.DONE, JobStatus.FAILED})


def state(status: str, dlq: bool) -> str:
    """The state of a row as people see it."""
    return DEAD_LETTERED if status == JobStatus.FAILED and dlq else status


def word(state_: str) -> str:
    """A state in words; one that another program invented is shown as it is."""
    return WORDS.get(state_, state_)


@dataclass(frozen=True)
class Transition:
    """One way a job may change. `source` None: the job is new; `target` None: it leaves the table."""

    name: str
    source: tuple[str, ...] | None
    target: str | None
    actor: str
    sets: str = ""


_Q, _R, _W, _CR, _C, _D, _F = (
    JobStatus.QUEUED,
    JobStatus.RUNNING,
    JobStatus.RETRY_WAIT,
    JobStatus.CANCEL_REQUESTED,
    JobStatus.CANCELLED,
    JobStatus.DONE,
    JobStatus.FAILED,
)

TRANSITIONS: tuple[Transition, ...] = (
    Transition("enqueue", None, _Q, "console, command, code, SQL", "name, queuedAt, submittedBy"),
    Transition("track", None, _R, "the caller, who does the work itself", "inline, startedAt, heartbeat"),
    Transition("claim", (_Q,), _R, "worker", "startedAt, heartbeatAt, workerId"),
    Transition("complete", (_R, _CR), _D, "worker", "finishedAt, progress 100, result"),
    Transition("retry_later", (_R,), _W, "worker", "error, failureType, retryCount+1, nextRetryAt, finishedAt"),
    Transition("dead_letter", (_R,), DEAD_LETTERED, "worker", "the same, and dlq, dlqAt, dlqReason"),
    Transition("release", (_R,), _Q, "worker that stops", "requeuedAt; the attempt is not counted"),
    Transition("requeue_orphaned_jobs", (_R,), _Q, "admin", "requeuedAt; the attempt is not counted"),
    Transition("rescue", (_R,), _W, "sweep", "as a failure: worker lost, INFRASTRUCTURE"),
    Transition("rescue", (_R,), DEAD_LETTERED, "sweep", "as a failure without retries left"),
    Transition("promote", (_W,), _Q, "sweep", "requeuedAt"),
    Transition("run_now", (_W,), _Q, "operator", "requeuedAt"),
    Transition("promote_failed", (_F,), _Q, "sweep", "retryCount+1, requeuedAt"),
    Transition("retry_unclassified", (_F,), _W, "sweep", "retryCount+1, nextRetryAt"),
    Transition("dead_letter_failed", (_F, _W), DEAD_LETTERED, "sweep", "dlqAt, dlqReason"),
    Transition("request_cancel", (_Q, _W), _C, "operator", "finishedAt"),
    Transition("request_cancel", (_R,), _CR, "operator"),
    Transition("cancel", (_CR,), _C, "worker, sweep", "finishedAt; heartbeat and worker cleared"),
    Transition("force_cancel", (_R, _CR), _C, "admin", "finishedAt; the run is fenced off"),
    Transition("retry", (DEAD_LETTERED,), _Q, "operator", "dlq fields cleared, retryCount 0, lineage +1"),
    Transition("rerun", (_C, _D, _F, DEAD_LETTERED), _Q, "operator", "a new job that names its origin"),
    Transition("purge", (_C, _D, _F, DEAD_LETTERED), None, "admin", "the row goes to the trash"),
    Transition("prune", (_C, _D, _F), None, "retention", "the row goes with its history and logs; not dlq, not inline"),
    Transition("restore", None, "the state it had", "admin", "every column as it was"),
)
