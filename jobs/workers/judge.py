"""What an error means for its job: its type, its group, and whether and when the job is tried again."""

import random
import traceback
from datetime import datetime
from pathlib import Path
from types import TracebackType

from jobs.domain.classification import classify
from jobs.domain.failures import DeadLetter, FailureType, decide
from jobs.domain.fingerprint import fingerprint
from jobs.domain.outcomes import ClaimedJob, DeadLettered, Failure, RetryLater
from jobs.domain.retry_after import retry_after_seconds
from jobs.domain.signs import sign_of
from jobs.domain.values import clean_text

LONGEST_ERROR = 64_000
_HERE = Path(__file__).parent


def judge(
    job: ClaimedJob, error: BaseException, now: datetime, jitter: float, rng: random.Random
) -> RetryLater | DeadLettered:
    """The outcome of a run that raised. `now` by the database's clock: the other side may have named a moment."""
    sign = sign_of(error)
    classification = classify(sign)
    failure = Failure(
        error=describe(error),
        failure_type=classification.failure_type.value,
        fingerprint=fingerprint(job.type, type(error).__qualname__, sign.message),
    )
    named = retry_after_seconds(sign.message, sign.attributes, now)
    return _outcome(job, failure, classification.failure_type, classification.why, jitter, rng, named)


def judged(
    job: ClaimedJob, error: str, failure_type: FailureType, jitter: float, rng: random.Random
) -> RetryLater | DeadLettered:
    """The outcome of a run that failed for a reason of our own, whose type is known."""
    failure = Failure(clean_text(error, LONGEST_ERROR), failure_type.value, fingerprint(job.type, "", error))
    return _outcome(job, failure, failure_type, "", jitter, rng, None)


def describe(error: BaseException) -> str:
    """The error as people read it: its message first, then where it came from. Never raises."""
    head = _head(error)
    try:
        where = "".join(traceback.format_exception(type(error), error, _handlers_own(error.__traceback__)))
    except Exception as trouble:  # noqa: BLE001 - an error may refuse to be printed; that is its own affair
        where = f"(its traceback cannot be printed: {type(trouble).__name__})"
    return clean_text(f"{head}\n\n{where}", LONGEST_ERROR)


def _handlers_own(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the handler on: the frames of this package say nothing about the job."""
    while trace is not None and Path(trace.tb_frame.f_code.co_filename).parent == _HERE:
        trace = trace.tb_next
    return trace


def _head(error: BaseException) -> str:
    name = type(error).__qualname__
    try:
        text = str(error)
    except Exception as trouble:  # noqa: BLE001 - see above
        return f"{name} (its message cannot be read: {type(trouble).__name__})"
    return f"{name}: {text}" if text else name


def _outcome(
    job: ClaimedJob,
    failure: Failure,
    failure_type: FailureType,
    why: str,
    jitter: float,
    rng: random.Random,
    retry_after: float | None,
) -> RetryLater | DeadLettered:
    decision = decide(failure_type, job.retry_count, jitter=jitter, rng=rng, retry_after=retry_after)
    if isinstance(decision, DeadLetter):
        return DeadLettered(failure, "; ".join(filter(None, [decision.reason, why])))
    wait = "the other side named the wait" if decision.named else ""
    return RetryLater(failure, decision.delay_seconds, "; ".join(filter(None, [why, wait])))
