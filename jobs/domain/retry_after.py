"""Find the wait that the other side asked for: in a structured attribute, else in the words of the error."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from jobs.domain.failures import bounded_retry_after

_TEXT_LIMIT = 16_000
_UNIT_SECONDS = {
    "ms": 0.001,
    "msec": 0.001,
    "msecs": 0.001,
    "millisecond": 0.001,
    "milliseconds": 0.001,
    "s": 1,
    "sec": 1,
    "secs": 1,
    "second": 1,
    "seconds": 1,
    "m": 60,
    "min": 60,
    "mins": 60,
    "minute": 60,
    "minutes": 60,
    "h": 3600,
    "hr": 3600,
    "hrs": 3600,
    "hour": 3600,
    "hours": 3600,
    "d": 86400,
    "day": 86400,
    "days": 86400,
}
_UNITS = "|".join(sorted(_UNIT_SECONDS, key=len, reverse=True))
_PART = re.compile(rf"(\d{{1,15}}(?:\.\d{{1,9}})?)\s{{0,2}}({_UNITS})(?![a-z])", re.IGNORECASE)
_PARTS = rf"(?:\d{{1,15}}(?:\.\d{{1,9}})?\s{{0,2}}(?:{_UNITS})(?![a-z])[\s,]{{0,2}}(?:and\s)?){{1,4}}"
_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)?"
_HTTP_DATE = r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT"
_NUMBER = r"-?\d{1,15}(?:\.\d{1,9})?"

# The first pattern that finds a usable value wins: from the header itself to a sentence.
_PATTERNS = [
    re.compile(rf"retry[-_ ]?after[-_ ]?ms[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']?(?P<ms>{_NUMBER})", re.IGNORECASE),
    re.compile(rf"retry[-_ ]?after[a-z_ -]{{0,12}}[\"']?\s{{0,3}}[:=]?\s{{0,3}}[\"'(]?(?P<date>{_HTTP_DATE})", re.I),
    re.compile(rf"retry[-_ ]?after[a-z_ -]{{0,12}}[\"']?\s{{0,3}}[:=]?\s{{0,3}}[\"'(]?(?P<iso>{_ISO})", re.I),
    re.compile(
        rf"retry[-_ ]?(?:after|delay)[a-z_ -]{{0,12}}[\"']?\s{{0,3}}[:=]?\s{{0,3}}[\"'(]?(?P<parts>{_PARTS}"
        rf")",
        re.I,
    ),
    re.compile(
        rf"retry[-_ ]?after[a-z_ -]{{0,12}}[\"']?\s{{0,3}}[:=]?\s{{0,3}}[\"'(]?(?P<seconds>{_NUMBER})(?"
        rf"![\d:])",
        re.I,
    ),
    re.compile(
        rf"\b(?:try(?:\s+again)?|again|retry(?:\s+again)?|wait|resets?|available(?:\s+again)?|unblocked)\s+"
        rf"(?:in|after|within)?\s{{0,2}}(?:about\s|another\s|at least\s)?(?P<parts>{_PARTS})",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:resets?|reset[-_ ](?:at|time)|try again|retry|available(?:\s+again)?)[\"']?\s{{0,3}}[:=]?\s{{0,3}}"
        rf"(?:at|on|after|until)?\s{{0,2}}[\"'(]?(?P<iso>{_ISO})",
        re.IGNORECASE,
    ),
    re.compile(r"ratelimit-reset[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<epoch>1\d{9})(?!\d)", re.IGNORECASE),
]


def retry_after_seconds(error_text: str, attrs: Mapping[str, object], now: datetime) -> float | None:
    """The wait in seconds that the other side named, 0 to 24 h, or None.

    `attrs` (lower-case names, such as `retry_after` or a response's headers) is preferred to `error_text`. `now` is
    an aware time, from which a named moment is counted; a moment that has passed names no wait.
    """
    for seconds in _candidates(error_text, attrs, now):
        bounded = bounded_retry_after(seconds)
        if bounded is not None:
            return bounded
    return None


def _candidates(error_text: str, attrs: Mapping[str, object], now: datetime) -> Iterator[float | None]:
    yield _attribute(attrs, ("retry_after_ms", "retry-after-ms"), now, scale=0.001)
    yield _attribute(attrs, ("retry_after", "retry-after", "retryafter", "retry_after_seconds", "retry_delay"), now)
    text = error_text[:_TEXT_LIMIT]
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            yield _matched(match, now)


def _attribute(attrs: Mapping[str, object], names: tuple[str, ...], now: datetime, scale: float = 1) -> float | None:
    for name in names:
        seconds = _value_seconds(attrs.get(name), now)
        if seconds is not None:
            return seconds * scale
    return None


def _value_seconds(value: object, now: datetime) -> float | None:
    """A Retry-After as an attribute holds it: seconds, a duration, an HTTP date, an ISO time."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _number(str(value)) if isinstance(value, float) else float(max(min(value, 10**15), -1))
    total = getattr(value, "total_seconds", None)
    if callable(total):
        return float(total())
    if isinstance(value, datetime):
        return _until(value, now)
    return _text_seconds(str(value)[:200].strip(), now) if isinstance(value, str) else None


def _text_seconds(text: str, now: datetime) -> float | None:
    if re.fullmatch(_NUMBER, text):
        return _number(text)
    if re.fullmatch(_PARTS, text, re.IGNORECASE):
        return _duration(text)
    return _moment(text, now)


def _matched(match: re.Match[str], now: datetime) -> float | None:
    found = {name: value for name, value in match.groupdict().items() if value}
    name, value = next(iter(found.items()))
    match name:
        case "parts":
            return _duration(value)
        case "seconds":
            return _number(value)
        case "ms":
            milliseconds = _number(value)
            return None if milliseconds is None else milliseconds / 1000
        case "epoch":
            return _until(datetime.fromtimestamp(int(value), UTC), now)
        case _:
            return _moment(value, now)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _duration(text: str) -> float:
    return sum(float(amount) * _UNIT_SECONDS[unit.lower()] for amount, unit in _PART.findall(text))


def _moment(text: str, now: datetime) -> float | None:
    for parse in (_iso, parsedate_to_datetime):
        try:
            return _until(parse(text), now)
        except (ValueError, TypeError, OverflowError):
            continue
    return None


def _iso(text: str) -> datetime:
    return datetime.fromisoformat(re.sub(r"\s?(?:Z|UTC|GMT)$", "+00:00", text.strip(), flags=re.IGNORECASE))


def _until(moment: datetime, now: datetime) -> float | None:
    """Seconds from `now`; a time without a zone is read as UTC; a moment that has passed names no wait."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = (aware - now).total_seconds()
    return seconds if seconds > 0 else None
