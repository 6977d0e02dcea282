"""When something ends that is set for a while: in so many seconds, at a time by the viewer's clocks, or not at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from jobs.domain.errors import InvalidInput
from jobs.domain.moments import ComesTwice, moment

# The choice that stands for a time of its own, typed beside it.
AT = "at"
AT_WORDS = "at a time of your choice"
LONGEST = timedelta(days=366)


@dataclass(frozen=True)
class End:
    """What was typed, read. `seconds` None: it has no end, or `problem` says why it cannot be used."""

    seconds: float | None = None
    problem: str = ""
    # The offsets to choose from when the clocks show the time twice.
    offsets: tuple[str, ...] = ()


def read(values: Mapping[str, str], now: datetime) -> End:
    """From the fields `ends` (seconds, `at` or nothing), `until` and `until_offset`. `now` is the database's."""
    ends = values.get("ends", "")
    if ends != AT:
        return End(float(ends) if _is_number(ends) else None)
    until, zone = values.get("until", ""), timezone.get_current_timezone()
    if not until:
        return End(problem="Write the date and the time of the end.")
    try:
        found = moment(until, zone, "until")
        offsets: tuple[str, ...] = ()
    except ComesTwice as error:
        offsets = error.offsets
        if values.get("until_offset") not in offsets:
            return End(problem=_sentence(error), offsets=offsets)
        found = moment(until + values["until_offset"], zone, "until")
    except InvalidInput as error:
        return End(problem=_sentence(error))
    seconds = (found - now).total_seconds()
    if not 0 < seconds <= LONGEST.total_seconds():
        local = timezone.localtime(now)
        when = "has passed" if seconds <= 0 else "lies more than a year ahead"
        return End(problem=f"That {when}: it is {local:%Y-%m-%d %H:%M} {local:%Z} now.", offsets=offsets)
    return End(seconds, offsets=offsets)


def _is_number(text: str) -> bool:
    """Is it a whole number of seconds? Digits of other scripts are none."""
    return text.isascii() and text.isdigit()


def _sentence(error: InvalidInput) -> str:
    return f"{error.message[:1].upper()}{error.message[1:300]}."


def option(values: Mapping[str, str], now: datetime) -> list[str]:
    """The end as the commands take it: the moment itself when one was chosen."""
    ends, end = values.get("ends", ""), read(values, now)
    if ends == AT:
        return [] if end.seconds is None else [f"--until={now + timedelta(seconds=end.seconds):%Y-%m-%dT%H:%M:%S}Z"]
    return [f"--until={ends}s"] if _is_number(ends) else []
