"""JSON that others send: checked at the door, with an error that names the place. Nothing recurses."""

import json
import math
import re
from decimal import Decimal, InvalidOperation
from json.encoder import encode_basestring
from typing import Any

from jobs.domain.errors import InvalidInput
from jobs.domain.json_text import LARGEST_EXPONENT, MAX_DEPTH, MAX_DIGITS, OVERHEAD_BYTES, child_path
from jobs.domain.text import NUL, NUL_OR_SURROGATE, human_size, replace_refused, safe_str, utf8_size

_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def parse_json(text: str, field: str = "json") -> Any:
    """JSON with every number exact: integers as int, all other numbers as Decimal.

    Raises `InvalidInput` for what is no JSON, nested deeper than 10,000 levels, or holds an integer of more than 4,300
    digits. Values that PostgreSQL refuses are let through: see `check_json`.
    """
    if depth_of(text) > 10_000:
        raise InvalidInput(field, "nested too deeply to be read")
    try:
        return json.loads(text, parse_float=_exact, parse_int=_exact_int, parse_constant=float)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        raise InvalidInput(field, f"is not JSON: {what} at line {error.lineno}, column {error.colno}") from None
    except _TooLong as error:
        raise InvalidInput(field, f"holds a number that cannot be read: {error}") from None
    except RecursionError:
        raise InvalidInput(field, "nested too deeply to be read") from None


def json_object(found: object) -> dict[str, Any]:
    """An object of our own tables as the database gives it, text or read; empty when it holds anything else."""
    try:
        value = json.loads(found) if isinstance(found, str) else found
    except (ValueError, RecursionError):
        return {}
    return dict(value) if isinstance(value, dict) else {}


def check_json(
    text_or_value: object, max_bytes: int = 1_000_000, max_depth: int = MAX_DEPTH, *, field: str = "config"
) -> Any:
    """Input at the door: the parsed value, or `InvalidInput` that names the JSON path of what cannot be stored.

    A `str` is read as JSON text. Refused: no JSON, more than `max_bytes` of UTF-8, more than `max_depth` levels, NUL,
    lone surrogates, NaN, infinities, numbers beyond 1e308 and integers of more than 4,300 digits.
    """
    if isinstance(text_or_value, str):
        _check_size(utf8_size(text_or_value), max_bytes, field)
        if depth_of(text_or_value) > max_depth:
            raise InvalidInput(field, f"is nested deeper than {max_depth} levels")
        value = parse_json(text_or_value, field)
    else:
        value = text_or_value
    _check_value(value, max_bytes, max_depth, field)
    return value


def depth_of(text: str) -> int:
    """How deeply JSON text is nested, without reading it: the most brackets open at once, outside strings."""
    depth = deepest = 0
    for match in _BRACKETS.finditer(text):
        first = text[match.start()]
        if first in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif first != '"':
            depth -= 1
    return deepest


class _TooLong(Exception):
    """A number has more digits than Python reads."""


def _exact(text: str) -> Decimal:
    if len(text) > MAX_DIGITS:
        raise _TooLong(f"{len(text):,} digits")
    try:
        return Decimal(text)
    except InvalidOperation:
        raise _TooLong(f"{text[:40]} is out of range") from None


def _exact_int(text: str) -> int:
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise _TooLong(f"an integer of {len(text):,} digits")
    return int(text)


def _check_size(size: int, max_bytes: int, field: str) -> None:
    if size > max_bytes:
        raise InvalidInput(field, f"is too big: {human_size(size)}, at most {human_size(max_bytes)}")


def _check_value(value: object, max_bytes: int, max_depth: int, field: str) -> None:
    """Walk a value without recursion; the order does not matter, since the first fault found is told."""
    stack: list[tuple[object, str, int]] = [(value, "$", 0)]
    size = 0
    while stack:
        item, path, depth = stack.pop()
        size += _check_item(item, path, field)
        _check_size(size, max_bytes, field)
        if isinstance(item, dict | list | tuple):
            if depth >= max_depth:
                raise InvalidInput(field, f"{path[:200]}: is nested deeper than {max_depth} levels")
            stack += _children(item, path, depth + 1, field)


def _children(
    item: dict[Any, Any] | list[Any] | tuple[Any, ...], path: str, depth: int, field: str
) -> list[tuple[object, str, int]]:
    if not isinstance(item, dict):
        return [(child, f"{path}[{index}]", depth) for index, child in enumerate(item)]
    for key in item:
        if not isinstance(key, str):
            raise InvalidInput(field, f"{path}: the key {safe_str(key)[:40]} is no text")
        _check_text(key, f"{path}, key {encode_basestring(replace_refused(key[:40]))}", field)
    return [(child, child_path(path, replace_refused(key)), depth) for key, child in item.items()]


def _check_item(item: object, path: str, field: str) -> int:
    """Raise for a value that cannot be stored; else about how many bytes it takes."""
    match item:
        case None | bool() | dict() | list() | tuple():
            return OVERHEAD_BYTES
        case str():
            _check_text(item, path, field)
            return utf8_size(item) + OVERHEAD_BYTES
        case int():
            if item.bit_length() > MAX_DIGITS * 3.33:
                raise InvalidInput(field, f"{path}: integers of more than {MAX_DIGITS:,} digits cannot be stored")
            return item.bit_length() // 3 + 1
        case float() | Decimal():
            _check_number(item, path, field)
            return 8
        case _:
            raise InvalidInput(field, f"{path}: {type(item).__name__} is no JSON type")


def _check_text(text: str, path: str, field: str) -> None:
    found = NUL_OR_SURROGATE.search(text)
    if found is None:
        return
    what = "a NUL character (\\u0000)" if found[0] == NUL else f"a lone surrogate (\\u{ord(found[0]):04x})"
    raise InvalidInput(field, f"{path}: {what} cannot be stored")


def _check_number(number: float | Decimal, path: str, field: str) -> None:
    if not math.isfinite(number) if isinstance(number, float) else not number.is_finite():
        raise InvalidInput(field, f"{path}: {number} is no JSON number")
    if isinstance(number, Decimal) and number and number.adjusted() > LARGEST_EXPONENT:
        raise InvalidInput(field, f"{path}: {number} is too large for a number")
