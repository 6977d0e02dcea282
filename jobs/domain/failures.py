"""What happens after a failure: how often and how long after each failure type a job is tried again.

Plain arithmetic: no clock, no settings, no database. Times are seconds (float) unless a name says otherwise.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

HOUR_SECONDS = 3600.0
NAMED_WAIT_RETRIES = 20
LONGEST_RETRY_AFTER_SECONDS = 24 * HOUR_SECONDS

# 30 s · 2^32 is already 4,000 years: no larger exponent can change min(…, longest), and none can overflow.
_LARGEST_EXPONENT = 32


class FailureType(StrEnum):
    """Who must change something so that the next run succeeds."""

    TRANSIENT = "TRANSIENT"
    """Nobody: another party, or the network between."""
    INFRASTRUCTURE = "INFRASTRUCTURE"
    """Nobody, or an operator: something we run is down, full, killed or overloaded."""
    LOGICAL = "LOGICAL"
    """The tenant, or nobody: this job's input or target says no; the same input gets the same answer."""
    FATAL = "FATAL"
    """An operator: our configuration, secret, account or image. Every job of that kind fails until then."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How failures of one type are tried again. The n-th delay is min(first · factor^n, longest)."""

    retries: int
    first_delay_seconds: float
    factor: int
    longest_delay_seconds: float


POLICIES: dict[FailureType, RetryPolicy] = {
    FailureType.TRANSIENT: RetryPolicy(5, 30, 2, 300),
    FailureType.INFRASTRUCTURE: RetryPolicy(3, 60, 3, 600),
    FailureType.LOGICAL: RetryPolicy(1, 120, 1, 120),
    FailureType.FATAL: RetryPolicy(0, 0, 1, 0),
}


class Randomness(Protocol):
    """What jitter needs of `random.Random`."""

    def random(self) -> float: ...


@dataclass(frozen=True, slots=True)
class RetryLater:
    """Try again after this many seconds. `named` says that the other side asked for exactly this wait."""

    delay_seconds: float
    named: bool


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """No retry is left (FATAL never has one)."""

    reason: str


def counted(retry_count: int | None) -> int:
    """The retry count as it can be used: corrupt values (null, negative) count as 0."""
    return max(retry_count or 0, 0)


def retries_left(failure_type: FailureType, retry_count: int | None, retry_after: float | None = None) -> int:
    """How many retries remain, `retry_count` being the counter before this failure."""
    return max(_retries(failure_type, bounded_retry_after(retry_after)) - counted(retry_count), 0)


def _retries(failure_type: FailureType, named: float | None) -> int:
    """The type's retries; more while the other side names a wait that is no shorter than the type's first one: who waits
    for a known window does not knock on a closed door, and five closed windows say nothing about the sixth."""
    policy = POLICIES[failure_type]
    patient = failure_type in (FailureType.TRANSIENT, FailureType.INFRASTRUCTURE)
    if patient and named is not None and named >= policy.first_delay_seconds:
        return max(policy.retries, NAMED_WAIT_RETRIES)
    return policy.retries


def base_delay_seconds(failure_type: FailureType, retry_count: int | None) -> float:
    """The delay without jitter. 0 for FATAL, which is never tried again."""
    policy = POLICIES[failure_type]
    growth = policy.factor ** min(counted(retry_count), _LARGEST_EXPONENT)
    return float(min(policy.first_delay_seconds * growth, policy.longest_delay_seconds))


def bounded_retry_after(seconds: float | None) -> float | None:
    """A wait that the other side named, at most 24 h; None if it named none that makes sense (negative, NaN)."""
    if seconds is None or math.isnan(seconds) or seconds < 0:
        return None
    return float(min(seconds, LONGEST_RETRY_AFTER_SECONDS))


def delay_seconds(
    failure_type: FailureType,
    retry_count: int | None,
    *,
    jitter: float,
    rng: Randomness,
    retry_after: float | None = None,
) -> float:
    """Seconds until the next attempt, `retry_count` being the counter before this failure.

    `jitter` is the largest share added on top (0.1 adds 0–10 %; 0 adds none). `retry_after`, a wait in seconds that the
    other side named, replaces the computed delay; jitter never shortens it, and 24 h is never exceeded.
    """
    spread = 1 + _share(jitter) * rng.random()
    named = bounded_retry_after(retry_after)
    if named is not None:
        return min(named * spread, LONGEST_RETRY_AFTER_SECONDS)
    return base_delay_seconds(failure_type, retry_count) * spread


def decide(
    failure_type: FailureType,
    retry_count: int | None,
    *,
    jitter: float,
    rng: Randomness,
    retry_after: float | None = None,
) -> RetryLater | DeadLetter:
    """Whether a failed job is tried again, and when. `retry_count` is the counter before this failure."""
    if retries_left(failure_type, retry_count, retry_after) == 0:
        return DeadLetter(_why_dead(failure_type, _retries(failure_type, bounded_retry_after(retry_after))))
    delay = delay_seconds(failure_type, retry_count, jitter=jitter, rng=rng, retry_after=retry_after)
    return RetryLater(delay, named=bounded_retry_after(retry_after) is not None)


def _share(jitter: float) -> float:
    return min(max(jitter, 0.0), 1.0) if math.isfinite(jitter) else 0.0


def _why_dead(failure_type: FailureType, retries: int) -> str:
    if retries == 0:
        return f"{failure_type} is never retried"
    return f"{failure_type}: all {retries} retries used" if retries > 1 else f"{failure_type}: its one retry used"
