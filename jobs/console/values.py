"""Stored JSON for a page: exact numbers, cut by size and depth, never a reason for an error."""

from dataclasses import dataclass
from typing import Any

from jobs.domain.errors import InvalidInput
from jobs.domain.values import MAX_DEPTH, depth_of, parse_json

# Up to here a value is shown as a tree; above it its beginning is shown as text.
TREE_CHARACTERS = 60_000
TEXT_CHARACTERS = 20_000


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
    if depth_of(text) > MAX_DEPTH:
        return Shown(size, text=text[:2_000], note="too deep to display as a tree")
    try:
        tree = parse_json(text)
    except InvalidInput as error:
        return Shown(size, text=text[:2_000], note=f"cannot be displayed as a tree: {error.message}")
    return Shown(size, tree=tree, has_tree=True, keys=len(tree) if isinstance(tree, dict | list) else None)
