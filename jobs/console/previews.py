"""What a preview showed, kept for as long as it holds, so that its page and a shell confirm the same one."""

import secrets
from dataclasses import dataclass, replace

from django.core.cache import caches
from django.http import QueryDict

from jobs.console.bulk import Ask
from jobs.domain.bulk import Kind

HOLDS_MINUTES = 10
# Of their own: however many are looked at, they push out neither notes of what a form has made nor counts of logins.
CACHE = "previews"


@dataclass(frozen=True)
class Shown:
    """A preview: what was asked, and how many matched (None: they were not counted to the end)."""

    id: str
    ask: Ask
    expected: int | None


def keep(ask: Ask, expected: int | None) -> str:
    """Remembers what is shown. Returns the preview's id, which nobody guesses."""
    preview_id, within = secrets.token_hex(8), ask.filter.within
    kept = {"kind": ask.kind.value, "query": ask.query(), "expected": expected,
            "within": None if within is None else sorted(within)}  # fmt: skip
    caches[CACHE].set(_key(preview_id), kept, HOLDS_MINUTES * 60)
    return preview_id


def find(preview_id: str) -> Shown | None:
    """What was shown under an id; None: nothing, or it no longer holds."""
    kept = caches[CACHE].get(_key(preview_id)) if looks_like(preview_id) else None
    if kept is None:
        return None
    ask = Ask.parse(Kind(kept["kind"]), QueryDict(kept["query"]))
    within = None if kept["within"] is None else frozenset(kept["within"])
    return Shown(preview_id, replace(ask, filter=replace(ask.filter, within=within)), kept["expected"])


def looks_like(text: str) -> bool:
    """Is this of the form of an id?"""
    return len(text) == 16 and all(character in "0123456789abcdef" for character in text)


def _key(preview_id: str) -> str:
    return f"preview:{preview_id}"
