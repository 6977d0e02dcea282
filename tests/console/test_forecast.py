"""When will it be empty? A range that holds, "not draining" soon, and silence where nobody can know."""

import math
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from jobs.console.forecast import Outlook, forecast
from jobs.console.percentiles import BUCKETS, percentile
from jobs.console.verdicts import beside_usual, empty_in

NOW = datetime(2026, 11, 30, 3, 19, tzinfo=UTC)


def poisson(rng: random.Random, mean: float) -> int:
    if mean > 50:
        return max(0, round(rng.gauss(mean, math.sqrt(mean))))
    limit, product, n = math.exp(-mean), rng.random(), 0
    while product > limit:
        product *= rng.random()
        n += 1
    return n


def steady(rng: random.Random, mean: float) -> Iterator[int]:
    while True:
        yield poisson(rng, mean)


def batches(rng: random.Random, mean: float) -> Iterator[int]:
    """One minute in five brings five minutes' worth."""
    while True:
        yield poisson(rng, 5 * mean) if rng.random() < 0.2 else 0


def spells(rng: random.Random, mean: float) -> Iterator[int]:
    """Some minutes of much, some of little, four of each on average."""
    much = rng.random() < 0.5
    while True:
        much ^= rng.random() < 0.25
        yield poisson(rng, (1.8 if much else 0.2) * mean)


@pytest.mark.parametrize("arrivals", [steady, batches, spells])
def test_the_range_holds_the_truth_in_four_of_five_simulations(
    arrivals: Callable[[random.Random, float], Iterator[int]],
) -> None:
    rng, within, tried = random.Random(4), 0, 0
    for _ in range(300):
        came, went = rng.choice([(5, 9), (40, 60), (200, 260), (20, 60), (90, 100)])
        queued, arriving = rng.randint(60, 3000), arrivals(rng, came)
        moves = [(next(arriving), poisson(rng, went)) for _ in range(10)]
        said = forecast(queued, moves, NOW)
        if said.outlook is not Outlook.DRAINING:
            continue
        tried += 1
        left, minutes = queued, 0
        while left > 0 and minutes < 3_000:
            left += next(arriving) - poisson(rng, went)
            minutes += 1
        truth = NOW + timedelta(minutes=minutes)
        within += said.earliest - timedelta(minutes=1) <= truth and (
            said.latest is None or truth <= said.latest + timedelta(minutes=1)
        )
    assert tried > 180 and within / tried >= 0.8, (within, tried)
    assert forecast(1200, [(0, 60)] * 10, NOW).latest < NOW + timedelta(minutes=25), "and is no excuse to say nothing"


@pytest.mark.parametrize("moves", [[(60, 40)] * 10, [(20, 20)] * 10, [(30, 0)] * 10])
def test_more_in_than_out_is_not_draining(moves: list[tuple[int, int]]) -> None:
    assert forecast(500, moves, NOW).outlook is Outlook.NOT_DRAINING


def test_what_cannot_be_known_is_not_guessed() -> None:
    assert forecast(0, [], NOW).outlook is Outlook.EMPTY
    assert forecast(9, [(1, 0)] * 10, NOW).outlook is Outlook.UNKNOWN
    assert forecast(9, [(0, 60)], NOW).outlook is Outlook.UNKNOWN
    assert forecast(9, [(0, 60)] * 10, NOW, held=True).outlook is Outlook.HELD


def test_a_forecast_is_a_range() -> None:
    said = forecast(1200, [(40, 60)] * 10, NOW)
    assert (
        said.earliest is not None and said.latest is not None and said.earliest < NOW + timedelta(hours=1) < said.latest
    )
    assert empty_in(said, NOW).startswith("in ") and " to " in empty_in(said, NOW)
    assert empty_in(forecast(900_000, [(99, 101)] * 10, NOW), NOW) == ""


def test_percentiles_from_buckets() -> None:
    buckets = [0] * BUCKETS
    assert percentile(buckets, 0.5) is None
    buckets[4], buckets[8] = 90, 10  # 2.5 to 5 s, and 1 to 2 min
    half, most = percentile(buckets, 0.5), percentile(buckets, 0.95)
    assert half is not None and most is not None and 2.5 < half < 5 and 60 < most < 120
    buckets[BUCKETS - 1] = 1_000_000
    assert percentile(buckets, 0.95) == pytest.approx(14_000, rel=0.1)


def test_now_against_usual() -> None:
    assert beside_usual(71, 12) == "5.9 × the usual 12"
    assert beside_usual(14, 12) == "usually 12"
    assert beside_usual(3, 0) == "usually none" and beside_usual(3, None) == ""
