"""Stored JSON for a page: exact numbers, cut by size and depth, never a reason for an error."""

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

# Up to here a value is shown as a tree; above it its beginning is shown as text.
TREE_CHARACTERS = 60_000
TEXT_CHARACTERS = 20_000
DEEPEST = 64


@dataclass(frozen=True)
class Shown:
    """A value as the page shows it: a tree, or its beginning, or why neither."""

    size: int
    tree: Any = None
    has_tree: bool = False
    text: str = ""
    note: str = ""
    keys: int | None = None


def show(text: str | None, size: int) -> Shown | None:
    """`text` is the beginning of the stored JSON, `size` its length in characters; None for no value."""
    if text is None or text == "null":
        return None
    if size > TREE_CHARACTERS or len(text) < size:
        return Shown(size, text=text[:TEXT_CHARACTERS], note="cut")
    if _depth(text) > DEEPEST:
        return Shown(size, text=text[:2_000], note="too deep to display as a tree")
    # Decimal keeps every digit of every number, whatever its length.
    tree = json.loads(text, parse_float=Number, parse_int=Number)
    return Shown(size, tree=tree, has_tree=True, keys=len(tree) if isinstance(tree, dict | list) else None)


class Number(Decimal):
    """A number with the digits it is stored with."""


_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')


def _depth(text: str) -> int:
    """The deepest nesting, by counting brackets outside strings."""
    deepest = depth = 0
    for char in _STRINGS.sub("", text):
        if char in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "}]":
            depth -= 1
    return deepest
