"""What an error means for its job: its type, its group, and whether and when the job is tried again."""

import random
import traceback
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType

from jobs.domain.failures import FailureType
from jobs.domain.fingerprint import fingerprint
from jobs.domain.judging import LONGEST_ERROR, classified, outcome_of
from jobs.domain.outcomes import ClaimedJob, Completed, DeadLettered, Ended, Failure, Released, RetryLater
from jobs.domain.retry_after import retry_after_seconds
from jobs.domain.rules import BUILT_IN, Rule
from jobs.domain.signs import sign_of, sign_record
from jobs.domain.values import clean_text

_HERE = Path(__file__).parent


def judge(
    job: ClaimedJob,
    error: BaseException,
    now: datetime,
    jitter: float,
    rng: random.Random,
    rules: Sequence[Rule] = BUILT_IN,
) -> RetryLater | DeadLettered:
    """The outcome of a run that raised. `now` by the database's clock: the other side may have named a moment."""
    sign = sign_of(error)
    classification = classified(sign, rules)
    failure = Failure(
        error=describe(error),
        failure_type=classification.failure_type.value,
        fingerprint=fingerprint(job.type, type(error).__qualname__, sign.message),
        sign=sign_record(sign, classification.rule_id),
    )
    named = retry_after_seconds(sign.message, sign.attributes, now)
    return outcome_of(
        job.run.job_id,
        job.retry_count,
        failure,
        classification.failure_type,
        classification.why,
        jitter,
        rng,
        named,
    )


def judged(
    job: ClaimedJob, error: str, failure_type: FailureType, jitter: float, rng: random.Random
) -> RetryLater | DeadLettered:
    """The outcome of a run that failed for a reason of our own, whose type is known."""
    failure = Failure(clean_text(error, LONGEST_ERROR), failure_type.value, fingerprint(job.type, "", error))
    return outcome_of(job.run.job_id, job.retry_count, failure, failure_type, "", jitter, rng, None)


def mended(ended: Ended, error: Exception, job: ClaimedJob | None, jitter: float, rng: random.Random) -> Ended:
    """Instead of an end that cannot be written, for a result or an error that it cannot store, one that it takes: the
    job fails for that, in words of our own. `job` None: it is not known any more, and is put back."""
    what = "result" if isinstance(ended.outcome, Completed) else "error"
    why = (str(error).splitlines() or [type(error).__name__])[0][:500]
    text = f"invalid input: the {what} of this run cannot be stored: {why}"
    if job is None:
        return Ended(ended.run, Released(text), ended.beat)
    return Ended(ended.run, judged(job, text, FailureType.LOGICAL, jitter, rng), ended.beat)


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
