"""JSON as text, with every digit of a decimal; and the paths by which its members are named."""

from dataclasses import dataclass
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

MAX_DEPTH = 64
MAX_DIGITS = 4300
"""Python refuses to read longer integers; so do we, and what is longer is not kept as a number."""
LARGEST_EXPONENT = 308
OVERHEAD_BYTES = 2
"""What a value costs beside itself: a separator, brackets."""


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
            pieces.append(scalar_text(top.value))
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


def scalar_text(value: Any) -> str:
    """One value that holds no others, as JSON."""
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


def child_path(path: str, name: str) -> str:
    """The JSON path of a member: `$.a`, or `$.a["odd name"]`."""
    short = name[:40]
    return f"{path}.{short}" if short.isidentifier() else f"{path}[{encode_basestring(short)}]"
