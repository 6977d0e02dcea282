"""Stored JSON as a tree that opens and closes without a script. Any value is safe to show: all text is escaped."""

import json
from decimal import Decimal

from django.utils.safestring import SafeString, mark_safe

from jobs.templatetags.markup import format_html, format_html_join

DEEPEST = 12
OPEN_DEPTH = 2
MOST_ITEMS = 200
LONGEST = 2000
FOLDED = 300
EMPTY = mark_safe("")  # noqa: S308  (a constant)


def tree(value: object) -> SafeString:
    """The value as nested lists; what is deeper, longer or more than a page should hold is said, not shown."""
    return format_html('<div class="json">{}</div>', _children(value, 0) or _leaf(value))


def _children(value: object, depth: int) -> SafeString:
    if isinstance(value, dict):
        pairs: list[tuple[str, object]] = [(str(key), item) for key, item in list(value.items())[:MOST_ITEMS]]
    elif isinstance(value, list | tuple):
        pairs = [(str(index), item) for index, item in enumerate(value[:MOST_ITEMS])]
    else:
        return EMPTY
    rows = format_html_join("", "<li>{}</li>", ((_entry(key, item, depth),) for key, item in pairs))
    left = len(value) - len(pairs)
    more = format_html('<li><span class="note">{} more</span></li>', f"{left:,}") if left else EMPTY
    return format_html("<ul>{}{}</ul>", rows, more) if pairs else EMPTY


def _entry(key: str, value: object, depth: int) -> SafeString:
    name = format_html('<span class="key">{}</span>', _cut(key))
    if not isinstance(value, dict | list | tuple) or not value:
        return format_html("{}{}", name, _leaf(value))
    size = f"{{{len(value)}}}" if isinstance(value, dict) else f"[{len(value)}]"
    if depth >= DEEPEST:
        return format_html('{}<span class="note">{} deeper levels are not shown</span>', name, size)
    opened = mark_safe(" open") if depth < OPEN_DEPTH and len(value) <= 10 else EMPTY  # noqa: S308  (a constant)
    return format_html(
        '<details{}><summary>{}<span class="note">{}</span></summary>{}</details>',
        opened,
        name,
        size,
        _children(value, depth + 1),
    )


def _leaf(value: object) -> SafeString:
    if isinstance(value, str):
        text = json.dumps(value[:LONGEST], ensure_ascii=False)
        cut = format_html(' <span class="note">cut: {} of {} characters</span>', f"{LONGEST:,}", f"{len(value):,}")
        note = cut if len(value) > LONGEST else EMPTY
        if len(text) <= FOLDED:
            return format_html("<span>{}</span>{}", text, note)
        return format_html('<details class="fold"><summary>{}…</summary>{}{}</details>', text[:120], text, note)
    if isinstance(value, Decimal):  # a stored number, every digit of it
        return format_html("<span>{}</span>", _number(format(value, "f")))
    return format_html("<span>{}</span>", json.dumps(value, ensure_ascii=False, default=str))


def _number(digits: str) -> str:
    return digits if len(digits) <= LONGEST else f"{digits[:LONGEST]}… ({len(digits):,} digits)"


def _cut(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"
