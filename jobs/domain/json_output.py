"""JSON of what our own code returns: cleaned, since a bad value must never keep a job from ending. Nothing recurses."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

from jobs.domain.json_text import (
    LARGEST_EXPONENT,
    MAX_DEPTH,
    MAX_DIGITS,
    OVERHEAD_BYTES,
    child_path,
    json_text,
    scalar_text,
)
from jobs.domain.text import cut_text, human_size, replace_refused, safe_call, safe_str, utf8_size


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
    if _is_small_and_plain(value, max_bytes, max_depth):
        return CleanJson(value, json.dumps(value, ensure_ascii=False), ())
    cleaner = _Cleaner(max_bytes, max_depth)
    cleaned = cleaner.clean(value)
    text = json_text(cleaned)
    if utf8_size(text) > max_bytes:
        cleaner.note("$", f"cut to {human_size(max_bytes)}")
        cleaned = {"cut": cut_text(text, max(max_bytes // 2 - 100, 0))}
        text = json_text(cleaned)
    return CleanJson(cleaned, text, tuple(cleaner.notes))


_FEW_NODES = 64
_SHORT_TEXT = 1_000
_SMALL_BYTES = 2 * _FEW_NODES * (6 * _SHORT_TEXT + 8)


def _is_small_and_plain(value: object, max_bytes: int, max_depth: int) -> bool:
    """Is there nothing to clean? Most results are like that, and every job waits for this."""
    if max_bytes < _SMALL_BYTES:
        return False
    nodes: list[tuple[Any, int]] = [(value, 0)]
    seen = 0
    while nodes:
        node, depth = nodes.pop()
        seen += 1
        if type(node) is dict or type(node) is list:
            if depth >= max_depth or seen + len(nodes) + len(node) > _FEW_NODES:
                return False
            if type(node) is dict and not all(_is_plain_text(key) for key in node):
                return False
            nodes.extend((item, depth + 1) for item in (node.values() if type(node) is dict else node))
        elif not _is_plain_scalar(node):
            return False
    return True


def _is_plain_scalar(node: Any) -> bool:
    if type(node) is int:
        return -(2**63) <= node < 2**63
    if type(node) is float:
        return math.isfinite(node)
    return node is None or type(node) is bool or _is_plain_text(node)


def _is_plain_text(text: object) -> bool:
    return (
        type(text) is str and len(text) <= _SHORT_TEXT and (text.isascii() or text.isprintable()) and "\0" not in text
    )


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
            self._copy(item, child_path(frame.path, name), frame.store, name)

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
        self.left_bytes -= utf8_size(encode_basestring(name)) + OVERHEAD_BYTES
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
        self.left_bytes -= OVERHEAD_BYTES
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
            and abs(value.adjusted()) <= LARGEST_EXPONENT
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


def _scalar_size(value: Any) -> int:
    return utf8_size(scalar_text(value)) + OVERHEAD_BYTES


def _number_name(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
