"""Rules that people write: what one may say, so that none can break classification or match everything."""

import re

from jobs.domain.errors import InvalidInput
from jobs.domain.failures import FailureType
from jobs.domain.rules.base import Rule, Sign

LONGEST_PATTERN = 1_000
LONGEST_WHY = 300
MOST_ALTERNATIVES = 50
MOST_STARS = 5
SHORTEST = 3

#: Patterns over the whole text are kept to the built-in rules: a regular expression of anybody's could take for ever.
KINDS = (Sign.PHRASE, Sign.CODE, Sign.EXCEPTION, Sign.STATUS, Sign.WORD)

_STATUS = re.compile(r"[45](?:\d\d|\dx|xx)")
_NAME = re.compile(r"[A-Za-z0-9_.:*?$\\/-]+")


def written_rule(id: str, *, kind: str, pattern: str, failure_type: str, why: str) -> Rule:
    """A rule as somebody wrote it. Raises `InvalidInput` that names the field: kind, pattern, type or why."""
    sign = _one_of(kind, "kind", KINDS)
    type_ = _one_of(failure_type, "type", tuple(FailureType))
    text = _text(pattern, "pattern", LONGEST_PATTERN)
    reason = _text(why, "why", LONGEST_WHY)
    _check(sign, text)
    return Rule(id, sign, text, type_, reason)


def _one_of[E: (Sign, FailureType)](value: str, field: str, allowed: tuple[E, ...]) -> E:
    for one in allowed:
        if value.strip().lower() == one.value.lower():
            return one
    raise InvalidInput(field, f"{value!r} is none of {', '.join(one.value for one in allowed)}")


def _text(value: str, field: str, longest: int) -> str:
    text = " ".join(value.split())
    if not text:
        raise InvalidInput(field, "it is empty")
    if len(text) > longest:
        raise InvalidInput(field, f"it is longer than {longest} characters")
    if not text.isprintable():
        raise InvalidInput(field, "it holds characters that cannot be printed")
    return text


def _check(sign: Sign, pattern: str) -> None:
    parts = [part.strip() for part in pattern.split(" | ")]
    if len(parts) > MOST_ALTERNATIVES:
        raise InvalidInput("pattern", f"it has more than {MOST_ALTERNATIVES} alternatives")
    if not all(parts) or any(part[0] == "|" or part[-1] == "|" for part in parts):
        raise InvalidInput("pattern", "an alternative is empty")
    for part in parts:
        _check_alternative(sign, part)


def _check_alternative(sign: Sign, part: str) -> None:
    if part.count("*") > MOST_STARS:
        raise InvalidInput("pattern", f"{part!r} has more than {MOST_STARS} stars")
    if sign is Sign.STATUS:
        if _STATUS.fullmatch(part.lower()) is None:
            raise InvalidInput("pattern", f"{part!r} is no status such as 429 or 5xx")
        return
    if sum(character.isalnum() for character in part) < SHORTEST:
        raise InvalidInput("pattern", f"{part!r} says too little: {SHORTEST} letters or digits at least")
    if sign in (Sign.CODE, Sign.EXCEPTION):
        if _NAME.fullmatch(part) is None:
            raise InvalidInput("pattern", f"{part!r} is no {'class name' if sign is Sign.EXCEPTION else 'code'}")
    elif any("*" in piece for piece in part.split(" * ")):
        raise InvalidInput("pattern", f"{part!r}: a star stands alone between words, and not at an end")
