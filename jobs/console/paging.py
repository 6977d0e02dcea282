"""Keyset paging: a page starts after or before a row, so that deep pages cost what the first costs."""

import base64
import binascii
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_MOMENT = re.compile(r"-?infinity|\d{4,6}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?\+00( BC)?")
_LONGEST = 4_000


@dataclass(frozen=True)
class Cursor:
    """Where a page begins: a row's time (as PostgreSQL writes it, in UTC) and id."""

    at: str
    id: str

    def encode(self) -> str:
        """As it stands in an address."""
        return base64.urlsafe_b64encode(json.dumps([self.at, self.id]).encode()).decode().rstrip("=")


def decode(text: str) -> Cursor | None:
    """The cursor in an address; None for anything that is none."""
    if not text or len(text) > _LONGEST:
        return None
    try:
        value = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        return None
    if not (isinstance(value, list) and len(value) == 2 and all(isinstance(one, str) for one in value)):
        return None
    at, row_id = value
    return Cursor(at, row_id) if _MOMENT.fullmatch(at) and storable(row_id) else None


def storable(text: str) -> bool:
    """Can PostgreSQL take it? No NUL, no lone surrogate."""
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)


@dataclass(frozen=True)
class Page:
    """One page of rows, newest first. `newer` and `older` are None at the ends.

    `dense`: the rows stood close together, so there are many of their kind.
    """

    rows: list[dict[str, Any]]
    first: bool
    newer: Cursor | None
    older: Cursor | None
    dense: bool = False

    @property
    def whole(self) -> bool:
        """Is it all there is?"""
        return self.first and self.older is None


def cut(rows: Sequence[dict[str, Any]], size: int, *, after: Cursor | None, before: Cursor | None) -> Page:
    """Makes a page of up to `size` + 1 rows, each with `cursor_at` and `id`; those before a cursor come oldest first."""
    more = len(rows) > size
    shown = list(rows[:size])
    if before:
        shown.reverse()
    # Before a cursor where nothing stands any more, the way out is the first page, too.
    has_newer = more if before and shown else (after or before) is not None
    has_older = True if before else more
    return Page(
        rows=shown,
        first=not has_newer,
        newer=_cursor(shown[0]) if has_newer and shown else None,
        older=_cursor(shown[-1]) if has_older and shown else None,
    )


def _cursor(row: dict[str, Any]) -> Cursor:
    return Cursor(row["cursor_at"], str(row["id"]))
