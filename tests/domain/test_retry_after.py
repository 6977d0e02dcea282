"""The wait that the other side asked for is found wherever it says so."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain.retry_after import retry_after_seconds

NOW = datetime(2025, 12, 31, 22, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("429 Too Many Requests, Retry-After: 3600", 3600),
        ("quota resets at 2026-01-01T00:00:00Z", 7200),
        ("rate limited, try again in 2h", 7200),
        ("retry after 30 s", 30),
        ("Please retry after 60 seconds.", 60),
        ("Please try again in 6ms.", 0.006),
        ("Please try again in 1m30.5s.", 90.5),
        ("Try again in 1 minute and 5 seconds", 65),
        ("Retry-After: Wed, 31 Dec 2025 23:00:00 GMT", 3600),
        ('"retryDelay": "34s"', 34),
        ("Please retry in 36.4s.", 36.4),
        ("{'retry-after': '7'}", 7),
        ("retry-after-ms: 1500", 1.5),
        ("x-ratelimit-reset: 1767225600", 7200),
        ("Quota will reset after 5h12m3s", 18723),
    ],
)
def test_a_wait_named_in_words_is_found(text: str, seconds: float) -> None:
    assert retry_after_seconds(text, {}, NOW) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "Retrying in 1 seconds (attempt 1/10)",
        "timeout after 4000 ms",
        "Retry-After: -5",
        "quota resets at 2025-12-31T00:00:00Z",
        "Timeout 30000ms exceeded.",
        "",
    ],
)
def test_what_is_no_wait_of_the_other_side_is_none(text: str) -> None:
    assert retry_after_seconds(text, {}, NOW) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (5, 5),
        ("12", 12),
        ("1m", 60),
        (timedelta(minutes=2), 120),
        (NOW + timedelta(hours=1), 3600),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 3600),
        (10**400, 86400),
        (math.inf, 86400),
    ],
)
def test_an_attribute_is_preferred_to_the_words(value: object, seconds: float) -> None:
    assert retry_after_seconds("try again in 2h", {"retry_after": value}, NOW) == seconds


@pytest.mark.parametrize("value", [math.nan, -3, True, None, object(), "soon"])
def test_an_attribute_that_makes_no_sense_leaves_the_words(value: object) -> None:
    assert retry_after_seconds("try again in 2h", {"retry_after": value}, NOW) == 7200


@given(st.text(max_size=200), st.integers(-(10**12), 10**12))
def test_any_text_gives_a_wait_within_a_day_or_none(text: str, amount: int) -> None:
    seconds = retry_after_seconds(f"{text} retry after {amount} s", {}, NOW)
    assert seconds is None or 0 <= seconds <= 86400
