"""Stored JSON for a page: exact numbers, cut by size and depth, never a reason for an error."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from jobs.domain.errors import InvalidInput
from jobs.domain.masking import mask_json
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
    masked: int = 0


def show(text: str | None, size: int, masked_keys: Sequence[str] | None = ()) -> Shown | None:
    """`text` is the beginning of the stored JSON, `size` its length in characters; None for no value.

    Secrets are masked by their keys, `masked_keys` besides the known ones; None masks nothing.
    """
    if text is None or text == "null":
        return None
    cut = size > TREE_CHARACTERS or len(text) < size
    masked = 0
    if masked_keys is not None:
        text, masked = mask_json(text, masked_keys)
    return replace(_show(text, size, cut), masked=masked)


def _show(text: str, size: int, cut: bool) -> Shown:
    if cut:
        return Shown(size, text=text[:TEXT_CHARACTERS], note="cut")
    if depth_of(text) > MAX_DEPTH:
        return Shown(size, text=text[:2_000], note="too deep to display as a tree")
    try:
        tree = parse_json(text)
    except InvalidInput as error:
        return Shown(size, text=text[:2_000], note=f"cannot be displayed as a tree: {error.message}")
    return Shown(size, tree=tree, has_tree=True, keys=len(tree) if isinstance(tree, dict | list) else None)
