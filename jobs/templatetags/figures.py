"""Small drawings as SVG with attributes only, so that no page needs an inline style; parts.css has the colours."""

from collections.abc import Sequence
from functools import lru_cache

from django.utils.safestring import SafeString

from jobs.templatetags.markup import escape, format_html

MOST_BLOCKS = 16
SPARK_FLOOR = 8
Rect = tuple[str, float, float, float, float]


def draw(label: str, width: int, height: int, rects: Sequence[Rect], *, fluid: bool = False) -> SafeString:
    """Rectangles (class, x, y, width, height) in one figure; `fluid` stretches it over its container."""
    stretch = format_html('preserveAspectRatio="none" height="{}"', height) if fluid else ""
    size = stretch or format_html('width="{}" height="{}"', width, height)
    return format_html(
        '<svg class="figure{}" role="img" aria-label="{}" viewBox="0 0 {} {}" {}>{}</svg>',
        " fluid" if fluid else "",
        label,
        width,
        height,
        size,
        # A page may hold a thousand of these: numbers need no escaping.
        SafeString("".join(map(_rect, rects))),
    )


def _rect(rect: Rect) -> str:
    name, x, y, width, height = rect
    return (
        f'<rect class="{escape(name)}" x="{round(x, 2):g}" y="{round(y, 2):g}" '
        f'width="{round(width, 2):g}" height="{round(height, 2):g}"/>'
    )


def clamp(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """The value, or the nearer end of the range."""
    return max(low, min(high, value))


@lru_cache(maxsize=1024)  # a page of a hundred tenants holds the same few again and again
def slots_figure(used: int, total: int, silent: int, width: int) -> SafeString:
    """One block a slot up to 16, then one bar; `silent` of the used ones belong to a worker that says nothing."""
    label = f"{used} of {total} slots in use" + (f", {silent} of a silent worker" if silent else "")
    if total > MOST_BLOCKS:
        filled = width * clamp(used / total)
        return draw(label, width, 8, [("free", 0, 0, width, 8), ("used", 0, 0, filled, 8)])
    gap = 1 if total > 8 else 2
    block = (width - gap * (total - 1)) / total if total > 0 else 0
    return draw(label, width, 8, [_slot(i, used, silent, block, gap) for i in range(max(0, total))])


def _slot(index: int, used: int, silent: int, block: float, gap: float) -> Rect:
    x = index * (block + gap)
    if index >= used:
        return ("free", x, 0, block, 8)
    if index >= used - silent:
        return ("silent", x + 0.75, 0.75, max(0.0, block - 1.5), 6.5)
    return ("used", x, 0, block, 8)


def share_figure(part: float, fair: float | None, width: int) -> SafeString:
    """A share (0 to 1) as a bar with an ink tick at the fair share."""
    label = f"{part:.0%}" + (f", fair share {fair:.0%}" if fair is not None else "")
    rects: list[Rect] = [("track", 0, 3, width, 6), ("share", 0, 3, width * clamp(part), 6)]
    if fair is not None:
        rects.append(("tick", width * clamp(fair) - 0.75, 0, 1.5, 12))
    return draw(label, width, 12, rects)


def progress_figure(percent: int, tone: str, width: int) -> SafeString:
    """A progress bar; percent is cut to 0–100."""
    filled = width * clamp(percent / 100)
    return draw(f"{percent} %", width, 6, [("track", 0, 0, width, 6), (tone, 0, 0, filled, 6)])


def spark_figure(values: Sequence[int], tone: str) -> SafeString:
    """The last 24 values as bars; the scale is never under 8, so that one failure does not look like a storm.

    One path, since a page may hold a hundred of these.
    """
    shown = list(values)[-24:]
    top = max([SPARK_FLOOR, *shown])
    heights = [round(max(0.75, 15 * max(0, value) / top), 2) for value in shown]
    path = "".join(f"M{place * 3.5:g} 16v-{height:g}h2.5v{height:g}z" for place, height in enumerate(heights))
    return format_html(
        '<svg class="figure" role="img" aria-label="{}" viewBox="0 0 84 16" width="84" height="16">'
        '<path class="{}" d="{}"/></svg>',
        f"last {len(shown)} values, highest {max(shown, default=0)}, latest {shown[-1] if shown else 0}",
        tone,
        path,
    )


def parts_figure(parts: Sequence[tuple[str, int]], label: str) -> SafeString:
    """One bar over the whole width, cut into (class, count)."""
    total = sum(max(0, count) for _, count in parts)
    x = 0.0
    rects: list[Rect] = [("track", 0, 0, 1000, 8)]
    for tone, count in parts:
        width = 1000 * max(0, count) / total if total else 0
        rects.append((tone, x, 0, max(0.0, width - 1), 8))
        x += width
    return draw(label, 1000, 8, rects, fluid=True)
