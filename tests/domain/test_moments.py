"""Times as they are typed: what does not exist or comes twice is told, never guessed."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from jobs.domain.errors import InvalidInput
from jobs.domain.moments import ComesTwice, moment

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "zone", "found"),
    [
        ("2026-11-30T18:00", BERLIN, (2026, 11, 30, 17)),
        ("2026-07-01 18:00", BERLIN, (2026, 7, 1, 16)),
        ("2026-11-30T18:00", UTC, (2026, 11, 30, 18)),
        ("2026-11-30T18:00+05:30", BERLIN, (2026, 11, 30, 12, 30)),
        ("2026-11-30T18:00Z", BERLIN, (2026, 11, 30, 18)),
        ("2026-11-30T18:00[America/New_York]", BERLIN, (2026, 11, 30, 23)),
        ("2026-10-25T02:30+02:00", BERLIN, (2026, 10, 25, 0, 30)),
        ("2026-10-25T02:30+01:00", BERLIN, (2026, 10, 25, 1, 30)),
        ("2026-10-25T03:00", BERLIN, (2026, 10, 25, 2)),
        ("2026-03-29T03:00", BERLIN, (2026, 3, 29, 1)),
    ],
)
def test_a_time_is_one_of_the_zones_clocks(text: str, zone: ZoneInfo, found: tuple[int, ...]) -> None:
    assert moment(text, zone, "until") == datetime(*found, tzinfo=UTC)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize("text", ["2026-03-29T02:00", "2026-03-29T02:30", "2026-03-29T02:59[Europe/Berlin]"])
def test_an_hour_that_is_missing_does_not_exist(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"does not exist in Europe/Berlin.*from UTC\+01:00 to UTC\+02:00"):
        moment(text, BERLIN, "until")


@pytest.mark.parametrize("text", ["2026-10-25T02:00", "2026-10-25T02:59"])
def test_an_hour_that_comes_twice_needs_its_offset(text: str) -> None:
    with pytest.raises(ComesTwice, match=r"comes twice in Europe/Berlin") as refused:
        moment(text, BERLIN, "until")
    assert refused.value.offsets == ("+02:00", "+01:00")


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-13-01T00:00", "9999-12-31T23:59-12:00", "0001-01-01T00:00+14:00", "2026-11-30T18:00[No/Where]",
             "2026-11-30T18:00[../etc]", "x" * 500],
)  # fmt: skip
def test_what_is_no_time_is_named(text: str) -> None:
    with pytest.raises(InvalidInput, match="until: "):
        moment(text, BERLIN, "until")
