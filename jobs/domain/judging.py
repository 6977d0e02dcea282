"""From a judged failure to what its run ends in. Whoever records a failure goes through here."""

from collections.abc import Sequence

import structlog

from jobs.domain.classification import Classification, classify
from jobs.domain.failures import DeadLetter, FailureType, Randomness, counted, decide
from jobs.domain.outcomes import DeadLettered, Failure, RetryLater
from jobs.domain.rules import Rule
from jobs.domain.signs import FailureSign

log = structlog.get_logger("jobs.worker")

LONGEST_ERROR = 64_000


def classified(sign: FailureSign, rules: Sequence[Rule]) -> Classification:
    """By these rules; by the built-in ones alone if one of the others is broken: a failure is always judged."""
    try:
        return classify(sign, rules)
    except Exception:
        log.exception("rules.broken")
        return classify(sign)


def outcome_of(
    job_id: str,
    retry_count: int,
    failure: Failure,
    failure_type: FailureType,
    why: str,
    jitter: float,
    rng: Randomness,
    retry_after: float | None,
) -> RetryLater | DeadLettered:
    """A retry or the DLQ, by the policy. `retry_after`: seconds that the other side named, or None."""
    if counted(retry_count) != retry_count:
        log.warning("job.retry_count_corrupt", job=job_id, retry_count=retry_count)
    decision = decide(failure_type, retry_count, jitter=jitter, rng=rng, retry_after=retry_after)
    if isinstance(decision, DeadLetter):
        return DeadLettered(failure, "; ".join(filter(None, [decision.reason, why])))
    wait = f"the other side named the wait: {_words(decision.delay_seconds)}" if decision.named else ""
    return RetryLater(failure, decision.delay_seconds, "; ".join(filter(None, [why, wait])))


def _words(seconds: float) -> str:
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{seconds:.0f} s" if seconds < 120 else f"{minutes} min" if not hours else f"{hours} h {minutes} min"
