"""How often and how long after a failure a job is tried again."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain.failures import (
    LONGEST_RETRY_AFTER_SECONDS,
    POLICIES,
    DeadLetter,
    FailureType,
    RetryLater,
    base_delay_seconds,
    decide,
    delay_seconds,
    retries_left,
)

retryable = st.sampled_from([FailureType.TRANSIENT, FailureType.INFRASTRUCTURE, FailureType.LOGICAL])
counts = st.one_of(st.none(), st.integers(-100, 10_000), st.sampled_from([33, 38, 63, 64, 1023, 1024, 2_000_000_000]))


class Least:
    """The randomness that adds nothing."""

    def random(self) -> float:
        return 0.0


class Most:
    """The randomness that adds all the jitter there is."""

    def random(self) -> float:
        return 1.0


@pytest.mark.parametrize(
    ("failure_type", "delays"),
    [
        (FailureType.TRANSIENT, [30, 60, 120, 240, 300, 300]),
        (FailureType.INFRASTRUCTURE, [60, 180, 540, 600, 600, 600]),
        (FailureType.LOGICAL, [120, 120, 120, 120, 120, 120]),
    ],
)
def test_without_jitter_the_delays_are_the_tables(failure_type: FailureType, delays: list[int]) -> None:
    assert [delay_seconds(failure_type, n, jitter=0, rng=Most()) for n in range(6)] == delays


@pytest.mark.parametrize(
    ("failure_type", "longest"), [(type_, POLICIES[type_].longest_delay_seconds) for type_ in POLICIES]
)
def test_a_count_far_beyond_the_retries_waits_the_longest_delay(failure_type: FailureType, longest: float) -> None:
    assert delay_seconds(failure_type, 25, jitter=0, rng=Most()) == longest


@given(retryable, counts, st.floats(0, 1), st.sampled_from([Least(), Most()]))
def test_a_delay_is_never_below_the_first_nor_above_the_longest_and_its_jitter(
    failure_type: FailureType, count: int | None, jitter: float, rng: Least | Most
) -> None:
    policy = POLICIES[failure_type]
    delay = delay_seconds(failure_type, count, jitter=jitter, rng=rng)
    assert policy.first_delay_seconds <= delay <= policy.longest_delay_seconds * (1 + jitter)
    assert math.isfinite(delay)


@given(retryable, st.integers(0, 2_000_000_000), st.integers(0, 1000))
def test_a_delay_does_not_fall_when_the_count_grows(failure_type: FailureType, count: int, more: int) -> None:
    assert base_delay_seconds(failure_type, count) <= base_delay_seconds(failure_type, count + more)


@pytest.mark.parametrize("corrupt", [None, -1, -100])
def test_a_corrupt_count_is_read_as_none_so_far(corrupt: int | None) -> None:
    assert delay_seconds(FailureType.TRANSIENT, corrupt, jitter=0, rng=Least()) == 30
    assert retries_left(FailureType.TRANSIENT, corrupt) == 5


@pytest.mark.parametrize(
    ("failure_type", "retries"),
    [
        (FailureType.TRANSIENT, 5),
        (FailureType.INFRASTRUCTURE, 3),
        (FailureType.LOGICAL, 1),
        (FailureType.FATAL, 0),
    ],
)
def test_after_its_retries_a_job_is_a_dead_letter(failure_type: FailureType, retries: int) -> None:
    decisions = [decide(failure_type, count, jitter=0.1, rng=random.Random(1)) for count in range(retries + 2)]
    assert [isinstance(decision, RetryLater) for decision in decisions] == [True] * retries + [False] * 2
    assert isinstance(decisions[-1], DeadLetter) and str(failure_type) in decisions[-1].reason


@given(retryable, st.floats(0, LONGEST_RETRY_AFTER_SECONDS), st.sampled_from([Least(), Most()]))
def test_a_named_wait_replaces_the_delay_and_jitter_never_shortens_it(
    failure_type: FailureType, named: float, rng: Least | Most
) -> None:
    delay = delay_seconds(failure_type, 0, jitter=0.1, rng=rng, retry_after=named)
    assert named <= delay <= min(named * 1.1 + 1e-6, LONGEST_RETRY_AFTER_SECONDS)


@pytest.mark.parametrize("named", [10 * 365 * 86400.0, math.inf, 1e300])
def test_a_named_wait_of_years_is_bounded_to_a_day(named: float) -> None:
    assert delay_seconds(FailureType.TRANSIENT, 0, jitter=0, rng=Least(), retry_after=named) == 86400


@pytest.mark.parametrize("named", [-1.0, -math.inf, math.nan, None])
def test_a_named_wait_that_makes_no_sense_is_ignored(named: float | None) -> None:
    decision = decide(FailureType.TRANSIENT, 0, jitter=0, rng=Least(), retry_after=named)
    assert decision == RetryLater(30, named=False)


@pytest.mark.parametrize("jitter", [-1.0, math.nan, math.inf])
def test_a_jitter_that_makes_no_sense_adds_nothing(jitter: float) -> None:
    assert delay_seconds(FailureType.TRANSIENT, 0, jitter=jitter, rng=Most()) == 30


@pytest.mark.parametrize(
    ("failure_type", "named", "retries"),
    [
        (FailureType.TRANSIENT, None, 5),
        (FailureType.TRANSIENT, 29, 5),
        (FailureType.TRANSIENT, 30, 20),
        (FailureType.TRANSIENT, 3600, 20),
        (FailureType.INFRASTRUCTURE, 59, 3),
        (FailureType.INFRASTRUCTURE, 60, 20),
        (FailureType.LOGICAL, 3600, 1),
        (FailureType.FATAL, 3600, 0),
        (FailureType.TRANSIENT, math.nan, 5),
    ],
)
def test_a_wait_that_the_other_side_names_has_more_retries_where_waiting_can_help(
    failure_type: FailureType, named: float | None, retries: int
) -> None:
    assert retries_left(failure_type, 0, named) == retries
    last = decide(failure_type, retries, jitter=0, rng=Least(), retry_after=named)
    assert isinstance(last, DeadLetter) and str(failure_type) in last.reason
