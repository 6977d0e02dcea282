"""The overview's chart, drawn as SVG on the server; everything in it is a number of ours."""

from collections.abc import Sequence

from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from jobs.console.queries.overview import Minute

WIDTH, HEIGHT = 640, 250
LEFT, RIGHT = 34, 570
TOP, BOTTOM = 16, 172
FAIL_TOP, FAIL_BOTTOM = 186, 226


def flow(minutes: Sequence[Minute]) -> SafeString:
    """Jobs into and out of the queue a minute, the gap between them, and failed runs below."""
    entered, left = [m.entered for m in minutes], [m.left for m in minutes]
    failed = [m.failed for m in minutes]
    top, fail_top = nice(max([*entered, *left, 4])), nice(max([*failed, 4]))
    body = [_grid(top, fail_top), _gap(entered, left, top)]
    body += [_line("in", entered, top), _line("out", left, top), _bars(failed, fail_top)]
    body += [_labels(entered, left, failed, top), _times(minutes)]
    return format_html(
        '<svg class="chart" role="img" aria-label="{}" viewBox="0 0 {} {}">{}</svg>',
        summary(minutes), WIDTH, HEIGHT, format_html_join("", "{}", ((part,) for part in body)),
    )  # fmt: skip


def summary(minutes: Sequence[Minute]) -> str:
    """The chart in words."""
    entered, left = sum(m.entered for m in minutes), sum(m.left for m in minutes)
    done, failed = sum(m.done for m in minutes), sum(m.failed for m in minutes)
    return f"Last {len(minutes)} min: {entered:,} queued, {left:,} started, {done:,} done, {failed:,} failed runs"


def nice(value: int) -> int:
    """The axis' end: a round number not under the value."""
    size = 1
    while size * 10 < value:
        size *= 10
    return next((size * step for step in (1, 2, 4, 6, 8, 10) if size * step >= value), size * 10)


def _x(index: int, count: int) -> float:
    return round(LEFT + (RIGHT - LEFT) * index / max(1, count - 1), 1)


def _y(value: int, top: int) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * value / top, 1)


def _points(values: Sequence[int], top: int) -> list[str]:
    return [f"{_x(index, len(values))},{_y(value, top)}" for index, value in enumerate(values)]


def _line(name: str, values: Sequence[int], top: int) -> SafeString:
    return format_html('<polyline class="{}" points="{}"/>', name, " ".join(_points(values, top)))


def _gap(entered: Sequence[int], left: Sequence[int], top: int) -> SafeString:
    """Filled only where more comes in than goes out: the growing backlog."""
    upper = _points([max(a, b) for a, b in zip(entered, left, strict=True)], top)
    lower = _points(left, top)
    return format_html('<polygon class="gap" points="{}"/>', " ".join(upper + lower[::-1]))


def _grid(top: int, fail_top: int) -> SafeString:
    rows = [(_y(value, top), f"{value:,}") for value in (0, top // 2, top) if value == 0 or top >= 2]
    lines = format_html_join(
        "",
        '<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/><text x="{}" y="{}" text-anchor="end">{}</text>',
        ((LEFT, RIGHT, y, y, LEFT - 6, y + 4, text) for y, text in rows),
    )
    return format_html(
        '{}<line class="axis" x1="{}" x2="{}" y1="{}" y2="{}"/><text x="{}" y="{}" text-anchor="end">{}</text>',
        lines, LEFT, RIGHT, FAIL_BOTTOM, FAIL_BOTTOM, LEFT - 6, FAIL_TOP + 4, f"{fail_top:,}",
    )  # fmt: skip


def _bars(values: Sequence[int], top: int) -> SafeString:
    width = round((RIGHT - LEFT) / max(1, len(values)) - 2, 1)
    bars = []
    for index, value in enumerate(values):
        if value:
            height = max(1.0, round((FAIL_BOTTOM - FAIL_TOP) * value / top, 1))
            bars.append((round(_x(index, len(values)) - width / 2, 1), FAIL_BOTTOM - height, width, height))
    return format_html_join("", '<rect class="fail" x="{}" y="{}" width="{}" height="{}"/>', bars)


def _labels(entered: Sequence[int], left: Sequence[int], failed: Sequence[int], top: int) -> SafeString:
    """Each series is named at its right end, with its value of the last whole minute."""
    last = -1
    in_y, out_y = _y(entered[last], top) + 4, _y(left[last], top) + 4
    if abs(in_y - out_y) < 13:
        middle, down = (in_y + out_y) / 2, 6.5 if entered[last] < left[last] else -6.5
        in_y, out_y = middle + down, middle - down
    low = min(0.0, BOTTOM + 4 - max(in_y, out_y))
    return format_html_join(
        "",
        '<text class="{}" x="{}" y="{}">{}</text>',
        [
            ("in", RIGHT + 7, round(in_y + low, 1), f"{entered[last]:,} in"),
            ("out", RIGHT + 7, round(out_y + low, 1), f"{left[last]:,} out"),
            ("fail" if failed[last] else "", RIGHT + 7, FAIL_BOTTOM - 2, f"{failed[last]:,} failed"),
        ],
    )


def _times(minutes: Sequence[Minute]) -> SafeString:
    count = len(minutes)
    marks = [(index, f"{timezone.localtime(minutes[index].at):%H:%M}") for index in range(0, count - 5, 10)]
    marks.append((count - 1, "now"))
    return format_html_join(
        "",
        '<text x="{}" y="{}" text-anchor="middle">{}</text>',
        ((_x(index, count), FAIL_BOTTOM + 18, text) for index, text in marks),
    )
