"""Secrets in text, masked before anything of it is shown, stored or sent."""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from jobs.artifacts.reading.document import Document, Table
from jobs.domain.masking import is_secret

MASK = "••••••"
_PAIR = re.compile(
    r"(?<![\w.-])(?P<key>[A-Za-z_][\w.-]{0,60}+)"
    r"(?P<between>[\"'`]?\s{0,3}(?::(?!//)|=>?|\bis\b)\s{0,3}[\"'`]?)(?P<value>[^\s\"'`,;<>{}\[\]]{3,400})"
)
# In a sentence or a step: `the password "…"`.
_QUOTED = re.compile(
    r"(?<![\w.-])(?P<key>[A-Za-z_][\w.-]{0,60}+)(?P<between>\s{1,3}[\"'`])(?P<value>[^\s\"'`,;<>{}\[\]]{3,400})"
)
_OPTION = re.compile(
    r"(?<!\S)--?(?P<key>[A-Za-z][\w-]{0,60}+)(?P<between>[ =]{1,2}[\"']?)(?P<value>[^\s\"'-][^\s\"']{2,400})"
)
_LOGIN = re.compile(r"(?<!\S)(?P<head>(?:-u|--user)[ =]?[\"']?[^\s:\"']{1,100}:)[^\s\"']{1,200}")
_WELL_KNOWN = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{0,6000}?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.?[\w-]*"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bsk-[\w-]{16,}|\b[sr]k_(?:live|test)_\w{10,}|\bxox[abprs]-[\w-]{10,}|\bAIza[\w-]{30,}"
    r"|\bBearer\s+[\w.~+/-]{8,}=*|\bBasic\s+[A-Za-z0-9+/]{12,}=*"
)
_IN_URL = re.compile(r"(?P<head>\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:)[^\s/@]{1,200}(?=@)", re.I)
# What stands under a secret's name without being one: a schema's words.
_HARMLESS = frozenset(
    {"string", "true", "false", "null", "none", "password", "required", "optional", "text", "integer"}
)
_SHORTEST, _LONGEST, _MOST = 4, 400, 1_000
_MOST_SEEN = 100_000


def redacted(text: str, more: list[str] | None = None) -> str:
    """The text with values of secrets masked: by the name of their key, by their well-known form, in addresses."""

    def pair(match: re.Match[str]) -> str:
        if not is_secret(match["key"], more or []):
            return match[0]
        return match[0][: match.start("value") - match.start()] + MASK

    text = _WELL_KNOWN.sub(MASK, text)
    text = _IN_URL.sub(lambda match: match["head"] + MASK, text)
    text = _LOGIN.sub(lambda match: match["head"] + MASK, text)
    for pattern in (_PAIR, _QUOTED, _OPTION):
        text = pattern.sub(pair, text)
    return text


def redactor(document: Document, more: list[str]) -> Callable[[str], str]:
    """What masks texts of this document: also the values that its tables, its data and its elements keep under a
    secret's name, wherever else they stand."""
    values = {one for value in islice(_named(document, more), _MOST) for one in _lines(value)}
    values |= {match["value"] for match in _PAIR.finditer(document.text[:_MOST_SEEN]) if _tells(match, more)}
    if not values:
        return lambda text: redacted(text, more)
    longest_first = sorted(values, key=len, reverse=True)[:_MOST]
    known = re.compile(r"(?<!\w)(?:" + "|".join(re.escape(one) for one in longest_first) + r")(?!\w)")
    return lambda text: redacted(known.sub(MASK, text), more)


def _tells(match: re.Match[str], more: list[str]) -> bool:
    """Is it a value rather than a word of a sentence?"""
    value = match["value"]
    return "is" not in match["between"] and len(value) >= 6 and not value.isalpha() and is_secret(match["key"], more)


def _lines(value: str) -> list[str]:
    lines = [line.strip() for line in value.split("\n")]
    return [one for one in lines if _SHORTEST <= len(one) <= _LONGEST and one.lower() not in _HARMLESS]


def _named(document: Document, more: list[str]) -> Iterator[str]:
    """Values that stand under a secret's name."""
    yield from (value for name, value in document.named if is_secret(name, more))
    for table in document.tables:
        yield from _of_table(table, more)
    yield from _of_data(document.data, more)


def _of_table(table: Table, more: list[str]) -> Iterator[str]:
    columns = [number for number, name in enumerate(table.head) if len(name) <= 60 and is_secret(name, more)]
    for row in table.rows:
        yield from (row[number] for number in columns if number < len(row))
        if len(row) == 2 and len(row[0]) <= 60 and is_secret(row[0], more):
            yield row[1]


def _of_data(data: Any, more: list[str]) -> Iterator[str]:
    """Texts and numbers below a secret's name, at any depth. Aliases may lead in a circle: each value is seen once."""
    waiting: list[tuple[Any, bool]] = [(data, False)]
    seen = set[tuple[int, bool]]()
    while waiting and len(seen) < _MOST_SEEN:
        value, secret = waiting.pop()
        if isinstance(value, dict | list):
            if (mark := (id(value), secret)) in seen:
                continue
            seen.add(mark)
        if isinstance(value, dict):
            waiting += [
                (one, not isinstance(one, dict) and is_secret(str(key)[:100], more)) for key, one in value.items()
            ]
        elif isinstance(value, list):
            waiting += [(one, secret) for one in value]
        elif secret and isinstance(value, str | int | float) and not isinstance(value, bool):
            yield str(value)
