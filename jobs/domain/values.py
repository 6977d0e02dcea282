"""Text and JSON as PostgreSQL takes it and a page can show it.

What others send is checked at the door (`check_json`, an error that names the place); what our own handlers return is
cleaned (`clean_text`, `clean_json`), because a bad value must never keep a job from ending. Nothing here recurses.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal, InvalidOperation
from json.encoder import encode_basestring
from typing import Any

from jobs.domain.errors import InvalidInput

REPLACEMENT = "\ufffd"
MAX_DEPTH = 64
MAX_DIGITS = 4300
"""Python refuses to read longer integers; so do we, and what is longer is not kept as a number."""

_NUL_OR_SURROGATE = re.compile("[\x00\ud800-\udfff]")
_NUL = "\x00"
_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_LARGEST_EXPONENT = 308
_OVERHEAD_BYTES = 2


# Text


def clean_text(text: object, limit_bytes: int | None = None) -> str:
    """Text without NUL and lone surrogates (they become U+FFFD), at most `limit_bytes` of UTF-8, mark of a cut included.

    Never raises: what is no text is read by `str`, and if that fails its class is named.
    """
    value = replace_refused(text if isinstance(text, str) else safe_str(text))
    return value if limit_bytes is None else cut_text(value, limit_bytes)


def replace_refused(text: str) -> str:
    """U+FFFD for NUL and lone surrogates; a pair of surrogates becomes the character that it stands for."""
    if _NUL_OR_SURROGATE.search(text) is None:
        return text
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return paired.replace(_NUL, REPLACEMENT)


def cut_text(text: str, limit_bytes: int) -> str:
    """At most `limit_bytes` of UTF-8; a text that is cut ends in `… [cut: 64 kB of 1.2 MB]`."""
    size = utf8_size(text)
    if size <= limit_bytes:
        return text
    mark = f"… [cut: {human_size(limit_bytes)} of {human_size(size)}]"
    room = max(limit_bytes - utf8_size(mark), 0)
    kept = text[:room].encode()[:room].decode(errors="ignore")
    return kept + mark if room else mark.encode()[:limit_bytes].decode(errors="ignore")


def utf8_size(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def human_size(size_bytes: int) -> str:
    """A size to be read: `64 kB`, `1.2 MB`."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    size = float(size_bytes)
    for unit in ("kB", "MB", "GB", "TB"):
        size /= 1000
        if size < 999.5:
            return f"{size:.0f} {unit}" if size >= 9.95 else f"{size:.1f} {unit}".replace(".0 ", " ")
    return f"{size:.0f} TB"


def safe_str(value: object) -> str:
    """`str(value)`, whatever its `__str__` does; a value that cannot be read says what class it has."""
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001 any error of a foreign __str__; it is named in the result
        return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"


# JSON that our own code produced


@dataclass(frozen=True, slots=True)
class CleanJson:
    """A value that PostgreSQL takes as jsonb: as plain Python, as the text to store, and what had to be changed."""

    value: Any
    text: str
    notes: tuple[str, ...]


def clean_json(value: object, max_bytes: int = 1_000_000, max_depth: int = MAX_DEPTH) -> CleanJson:
    """Any object as JSON that can be stored and shown. Never raises, never recurses, and says what it changed.

    NUL and lone surrogates become U+FFFD; NaN and infinities their names; what JSON has no type for its text, decimals
    that are finite stay numbers; what is deeper than `max_depth` or bigger than `max_bytes` is cut and marked.
    """
    cleaner = _Cleaner(max_bytes, max_depth)
    cleaned = cleaner.clean(value)
    text = json_text(cleaned)
    if utf8_size(text) > max_bytes:
        cleaner.note("$", f"cut to {human_size(max_bytes)}")
        cleaned = {"cut": cut_text(text, max(max_bytes // 2 - 100, 0))}
        text = json_text(cleaned)
    return CleanJson(cleaned, text, tuple(cleaner.notes))


@dataclass(slots=True)
class _Frame:
    """A container that is being copied: its items still to come, and where their copies go."""

    items: Iterator[tuple[Any, Any]]
    store: Callable[[Any, Any], None]
    path: str
    source_id: int
    left: int


class _Cleaner:
    _MAX_NOTES = 20

    def __init__(self, max_bytes: int, max_depth: int) -> None:
        self.max_depth = max_depth
        # Marks of what was cut need room too, at most one for each open level.
        self.left_bytes = max_bytes - min(max_bytes // 4, 4096)
        self.notes: list[str] = []
        self._stack: list[_Frame] = []
        self._open: set[int] = set()

    def note(self, path: str, change: str) -> None:
        if len(self.notes) < self._MAX_NOTES:
            self.notes.append(f"{path}: {change}")

    def clean(self, value: object) -> Any:
        result: list[Any] = []
        self._copy(value, "$", lambda _key, copy: result.append(copy), None)
        while self._stack:
            self._step(self._stack[-1])
        return result[0]

    def _step(self, frame: _Frame) -> None:
        if self.left_bytes <= 0 and frame.left > 0:
            self._cut_rest(frame)
            return
        try:
            key, item = next(frame.items)
        except StopIteration:
            self._close(frame)
            return
        except Exception as error:  # noqa: BLE001 a foreign container may fail in any way; the note says so
            self.note(frame.path, f"could not be read to its end ({type(error).__name__})")
            self._close(frame)
            return
        frame.left -= 1
        if isinstance(key, int):
            self._copy(item, f"{frame.path}[{key}]", frame.store, key)
        else:
            name = self._key(key, frame.path)
            self._copy(item, _child(frame.path, name), frame.store, name)

    def _close(self, frame: _Frame) -> None:
        self._stack.pop()
        self._open.discard(frame.source_id)

    def _cut_rest(self, frame: _Frame) -> None:
        mark = f"… [cut: {frame.left:,} more]"
        self.note(frame.path, f"cut, {frame.left:,} more")
        frame.store("…", mark)
        self._close(frame)

    def _key(self, key: "_Key", path: str) -> str:
        name = self._string(key.name, path, "key")
        self.left_bytes -= utf8_size(encode_basestring(name)) + _OVERHEAD_BYTES
        return name

    def _copy(self, value: object, path: str, store: Callable[[Any, Any], None], key: Any) -> None:
        """Store the copy of one value; a container is stored empty and filled by the steps that follow."""
        container = _items(value)
        if container is None:
            scalar = self._scalar(value, path)
            self.left_bytes -= _scalar_size(scalar)
            store(key, scalar)
            return
        items, count, is_mapping = container
        if id(value) in self._open:
            self.note(path, "refers to itself")
            store(key, "… [refers to itself]")
        elif len(self._stack) >= self.max_depth:
            self.note(path, f"deeper than {self.max_depth} levels")
            store(key, f"… [cut: deeper than {self.max_depth} levels]")
        else:
            self._open_container(value, path, store, key, items, count, is_mapping)

    def _open_container(
        self,
        value: object,
        path: str,
        store: Callable[[Any, Any], None],
        key: Any,
        items: Iterator[tuple[Any, Any]],
        count: int,
        is_mapping: bool,
    ) -> None:
        copy: Any = {} if is_mapping else []
        put = copy.__setitem__ if is_mapping else (lambda _key, item: copy.append(item))
        store(key, copy)
        self.left_bytes -= _OVERHEAD_BYTES
        if not isinstance(value, Mapping | list | tuple):
            self.note(path, f"{type(value).__name__} kept as JSON")
        self._open.add(id(value))
        self._stack.append(_Frame(items, put, path, id(value), count))

    def _scalar(self, value: object, path: str) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._string(str.__str__(value), path, "text")
        if isinstance(value, int):
            return self._integer(int(value), path)
        if isinstance(value, float):
            return self._float(float(value), path)
        if isinstance(value, Decimal):
            return self._decimal(value, path)
        return self._other(value, path)

    def _string(self, text: str, path: str, what: str) -> str:
        cleaned = replace_refused(text)
        if cleaned is not text and cleaned != text:
            self.note(path, f"{what} held NUL or a lone surrogate")
        limit = max(self.left_bytes, 100)
        if utf8_size(cleaned) > limit:
            self.note(path, f"{what} of {human_size(utf8_size(cleaned))} cut")
            return cut_text(cleaned, limit)
        return cleaned

    def _integer(self, value: int, path: str) -> int | str:
        if value.bit_length() <= MAX_DIGITS * 3:  # 3 bits are less than a digit: certainly short enough to print
            return value
        digits = int(value.bit_length() * math.log10(2)) + 1
        self.note(path, f"integer of {digits:,} digits")
        return f"… [cut: integer of about {digits:,} digits]"

    def _float(self, value: float, path: str) -> float | str:
        if math.isfinite(value):
            return value
        self.note(path, f"{value} is no JSON number")
        return _number_name(value)

    def _decimal(self, value: Decimal, path: str) -> Decimal | str:
        if (
            value.is_finite()
            and abs(value.adjusted()) <= _LARGEST_EXPONENT
            and len(value.as_tuple().digits) <= MAX_DIGITS
        ):
            return value
        self.note(path, "decimal that is no JSON number kept as text")
        return str(value)[:200]

    def _other(self, value: object, path: str) -> str:
        self.note(path, f"{type(value).__name__} kept as text")
        if isinstance(value, bytes | bytearray | memoryview):
            return self._string(bytes(value[: max(self.left_bytes, 100)]).decode("utf-8", "replace"), path, "text")
        isoformat = getattr(value, "isoformat", None)
        text = safe_call(isoformat) if callable(isoformat) else None
        return self._string(text if text is not None else safe_str(value), path, "text")


@dataclass(frozen=True, slots=True)
class _Key:
    """A mapping's key on its way; wrapped, so that it is not taken for a list's index."""

    name: str


def safe_call(function: Callable[[], object]) -> str | None:
    """The text that a foreign method returns, or None if it fails or returns none."""
    try:
        text = function()
    except Exception:  # noqa: BLE001 the caller falls back to str()
        return None
    return text if isinstance(text, str) else None


def _items(value: object) -> tuple[Iterator[tuple[Any, Any]], int, bool] | None:
    """The items of a container, how many, and whether it has keys; None for everything else."""
    try:
        if isinstance(value, str | bytes | bytearray | memoryview):
            return None
        if isinstance(value, Mapping):
            return ((_Key(_key_name(key)), item) for key, item in value.items()), len(value), True
        if isinstance(value, list | tuple | AbstractSet):
            return ((index, item) for index, item in enumerate(value)), len(value), False
        if is_dataclass(value) and not isinstance(value, type):
            names = [field.name for field in fields(value)]
            return ((_Key(name), getattr(value, name, None)) for name in names), len(names), True
    except Exception:  # noqa: BLE001 a foreign container that cannot even be opened is shown as text
        return None
    return None


def _key_name(key: object) -> str:
    match key:
        case str():
            return str.__str__(key)
        case None:
            return "null"
        case bool():
            return "true" if key else "false"
        case _:
            return safe_str(key)


def _child(path: str, name: str) -> str:
    short = name[:40]
    return f"{path}.{short}" if short.isidentifier() else f"{path}[{encode_basestring(short)}]"


def _scalar_size(value: Any) -> int:
    return utf8_size(_scalar_text(value)) + _OVERHEAD_BYTES


def _number_name(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def json_text(value: Any) -> str:
    """JSON of plain values, decimals as numbers with all their digits. Iterative, so any depth is written."""
    pieces: list[str] = []
    stack: list[Any] = [_Ready(value)]
    while stack:
        top = stack.pop()
        if isinstance(top, str):
            pieces.append(top)
        elif isinstance(top.value, dict):
            _push_mapping(stack, top.value)
        elif isinstance(top.value, list | tuple):
            _push_list(stack, top.value)
        else:
            pieces.append(_scalar_text(top.value))
    return "".join(pieces)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A value that is still to be written, as opposed to text that is."""

    value: Any


def _push_mapping(stack: list[Any], value: dict[str, Any]) -> None:
    stack.append("}")
    for index, (key, item) in enumerate(reversed(value.items())):
        if index:
            stack.append(", ")
        stack += [_Ready(item), f"{encode_basestring(key)}: "]
    stack.append("{")


def _push_list(stack: list[Any], value: list[Any] | tuple[Any, ...]) -> None:
    stack.append("]")
    for index, item in enumerate(reversed(value)):
        if index:
            stack.append(", ")
        stack.append(_Ready(item))
    stack.append("[")


def _scalar_text(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return encode_basestring(value)
        case float():
            return float.__repr__(value)
        case Decimal():
            return str(value)
        case _:
            return int.__repr__(value)


# JSON that others send


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
        raise InvalidInput(field, f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except _TooLong as error:
        raise InvalidInput(field, f"holds a number that cannot be read: {error}") from None
    except RecursionError:
        raise InvalidInput(field, "nested too deeply to be read") from None


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
    return [(child, _child(path, replace_refused(key)), depth) for key, child in item.items()]


def _check_item(item: object, path: str, field: str) -> int:
    """Raise for a value that cannot be stored; else about how many bytes it takes."""
    match item:
        case None | bool() | dict() | list() | tuple():
            return _OVERHEAD_BYTES
        case str():
            _check_text(item, path, field)
            return utf8_size(item) + _OVERHEAD_BYTES
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
    found = _NUL_OR_SURROGATE.search(text)
    if found is None:
        return
    what = "a NUL character (\\u0000)" if found[0] == _NUL else f"a lone surrogate (\\u{ord(found[0]):04x})"
    raise InvalidInput(field, f"{path}: {what} cannot be stored")


def _check_number(number: float | Decimal, path: str, field: str) -> None:
    if not math.isfinite(number) if isinstance(number, float) else not number.is_finite():
        raise InvalidInput(field, f"{path}: {number} is no JSON number")
    if isinstance(number, Decimal) and number and number.adjusted() > _LARGEST_EXPONENT:
        raise InvalidInput(field, f"{path}: {number} is too large for a number")
