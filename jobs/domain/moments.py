"""Moments as people type them: in a zone where, twice a year, an hour is missing or comes twice."""

import re
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from jobs.domain.errors import InvalidInput

LONGEST = 80
_ZONED = re.compile(r"(.*?)\[([A-Za-z0-9_+/-]{1,64})\]")


class ComesTwice(InvalidInput):
    """The clocks show this time twice. `offsets`: of the first time and of the second, as `+02:00`."""

    def __init__(self, field: str, message: str, offsets: tuple[str, str]) -> None:
        super().__init__(field, message)
        self.offsets = offsets


def moment(text: str, zone: tzinfo, field: str) -> datetime:
    """The moment that `text` (ISO 8601) names, in UTC: by its own offset or `[Zone]`, else by the clocks of `zone`.

    Raises `InvalidInput` for what is no time or does not exist there, `ComesTwice` for what needs an offset.
    """
    text = text.strip()[:LONGEST]
    if match := _ZONED.fullmatch(text):
        text, zone = match[1], _zone(match[2], field)
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo else _by_the_clocks(found, zone, field)
    except (ValueError, OverflowError):
        raise InvalidInput(field, f"{text!r} is no date and time, such as 2026-10-25T18:30") from None


def _zone(name: str, field: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise InvalidInput(field, f"{name!r} is no time zone, such as Europe/Berlin") from None


def _by_the_clocks(local: datetime, zone: tzinfo, field: str) -> datetime:
    first, second = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return first.astimezone(UTC)
    shown = f"{local:%H:%M} on {local:%Y-%m-%d}"
    if first.astimezone(UTC).astimezone(zone).replace(tzinfo=None, fold=0) != local:
        raise InvalidInput(
            field,
            f"{shown} does not exist in {zone}: the clocks are put forward then, from UTC{_offset(first)} to "
            f"UTC{_offset(second)}",
        )
    offsets = (_offset(first), _offset(second))
    raise ComesTwice(
        field,
        f"{shown} comes twice in {zone}: the clocks are put back then. Say which: the first is UTC{offsets[0]}, the second "
        f"UTC{offsets[1]}",
        offsets,
    )


def _offset(at: datetime) -> str:
    return at.isoformat()[-6:]
