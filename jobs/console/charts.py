"""The charts, drawn as SVG on the server; what is text in them is escaped, all else is a number of ours."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.safestring import SafeString

from jobs.console.queries.overview import Minute
from jobs.console.queries.overview.failing import Heat
from jobs.console.queries.overview.times import Spread
from jobs.templatetags.formats import duration_text
from jobs.templatetags.markup import format_html, format_html_join

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


# --- Percentiles ------------------------------------------------------------------------------------------------------
SPREAD_HEIGHT, SPREAD_LEFT, SPREAD_TOP, SPREAD_BOTTOM = 130, 44, 12, 104
# The room for the lines' names.
SPREAD_NAMES = 112
# The marks of the axis, in seconds; it is logarithmic, since waits and runs are.
MARKS = (0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 14_400.0)


def spread(name: str, steps: Sequence[Spread], width: int) -> SafeString:
    """Half and nineteen of twenty took no longer than this: two lines over the last hour."""
    right = width - SPREAD_NAMES
    known = [value for step in steps for value in (step.p50, step.p95) if value is not None]
    # Never the lowest mark: an axis has two ends, also where everything takes no time.
    top = next((mark for mark in MARKS[1:] if known and mark >= max(known)), MARKS[-1])
    low = next((mark for mark in reversed(MARKS) if known and mark <= min(known) and mark < top), MARKS[0])
    parts = [_spread_grid(low, top, right)]
    parts += [_spread_line("faint-line", [step.p50 for step in steps], low, top, right)]
    parts += [_spread_line("line", [step.p95 for step in steps], low, top, right)]
    parts += [_spread_labels(steps, low, top, right), _spread_times(steps, right)]
    return format_html(
        '<svg class="chart" role="img" aria-label="{}" viewBox="0 0 {} {}">{}</svg>',
        spread_summary(name, steps), width, SPREAD_HEIGHT, format_html_join("", "{}", ((part,) for part in parts)),
    )  # fmt: skip


def spread_summary(name: str, steps: Sequence[Spread]) -> str:
    """The chart in words."""
    last = next((step for step in reversed(steps) if step.p95 is not None), None)
    if last is None or last.p50 is None or last.p95 is None:
        return f"{name}, last hour: none"
    return f"{name}, last 5 min with any: half within {duration_text(last.p50)}, 95 % within {duration_text(last.p95)}"


def _log_y(value: float, low: float, top: float) -> float:
    share = (math.log(min(max(value, low), top)) - math.log(low)) / (math.log(top) - math.log(low))
    return round(SPREAD_BOTTOM - (SPREAD_BOTTOM - SPREAD_TOP) * share, 1)


def _spread_x(index: int, count: int, right: int) -> float:
    return round(SPREAD_LEFT + (right - SPREAD_LEFT) * index / max(1, count - 1), 1)


def _spread_line(name: str, values: Sequence[float | None], low: float, top: float, right: int) -> SafeString:
    """A line with gaps where nothing ran; a point alone is a short stroke."""
    runs: list[list[str]] = [[]]
    for index, value in enumerate(values):
        if value is None:
            runs.append([])
            continue
        runs[-1].append(f"{_spread_x(index, len(values), right)},{_log_y(value, low, top)}")
    for run in runs:
        if len(run) == 1:
            x, y = run[0].split(",")
            run.append(f"{float(x) + 4:g},{y}")
    return format_html_join(
        "", '<polyline class="{}" points="{}"/>', ((name, " ".join(points)) for points in runs if points)
    )


def _spread_grid(low: float, top: float, right: int) -> SafeString:
    marks = [mark for mark in MARKS if low <= mark <= top]
    return format_html_join(
        "",
        '<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/><text x="{}" y="{}" text-anchor="end">{}</text>',
        (
            (SPREAD_LEFT, right, y, y, SPREAD_LEFT - 6, y + 4, _mark_words(mark))
            for mark in marks
            for y in [_log_y(mark, low, top)]
        ),
    )


def _mark_words(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:g} s"
    return f"{seconds / 60:g} min" if seconds < 3600 else f"{seconds / 3600:g} h"


def _spread_labels(steps: Sequence[Spread], low: float, top: float, right: int) -> SafeString:
    last = next((step for step in reversed(steps) if step.p95 is not None), None)
    if last is None or last.p50 is None or last.p95 is None:
        middle = (SPREAD_LEFT + right) / 2
        return format_html('<text x="{}" y="{}" text-anchor="middle">none in the last hour</text>', middle, 60)
    upper, lower = _log_y(last.p95, low, top) + 4, _log_y(last.p50, low, top) + 4
    if lower - upper < 13:
        lower = upper + 13
    if lower > SPREAD_BOTTOM + 6:
        upper, lower = upper - (lower - SPREAD_BOTTOM - 6), SPREAD_BOTTOM + 6
    return format_html_join(
        "",
        '<text class="{}" x="{}" y="{}">{}</text>',
        [
            ("strong", right + 7, round(upper, 1), f"95 %: {duration_text(last.p95)}"),
            ("", right + 7, round(lower, 1), f"half: {duration_text(last.p50)}"),
        ],
    )


def _spread_times(steps: Sequence[Spread], right: int) -> SafeString:
    count = len(steps)
    marks = [(index, f"{timezone.localtime(steps[index].at):%H:%M}") for index in range(0, count - 2, 3)]
    marks.append((count - 1, "now"))
    return format_html_join(
        "",
        '<text x="{}" y="{}" text-anchor="middle">{}</text>',
        ((_spread_x(index, count, right), SPREAD_HEIGHT - 6, text) for index, text in marks),
    )


# --- A group's days ---------------------------------------------------------------------------------------------------
DAYS_WIDTH, DAYS_HEIGHT, DAYS_BOTTOM = 790, 92, 70
DAYS_RIGHT = 784


def days(values: Sequence[tuple[datetime, int]]) -> SafeString:
    """Failed runs of each day (UTC), as bars."""
    top = nice(max([4, *(n for _, n in values)]))
    step = (DAYS_RIGHT - LEFT) / max(1, len(values))
    bars = []
    for index, (_, n) in enumerate(values):
        if n:
            height = max(1.0, round((DAYS_BOTTOM - 10) * n / top, 1))
            bars.append((round(LEFT + index * step + 1, 1), DAYS_BOTTOM - height, round(step - 2, 1), height))
    rects = format_html_join("", '<rect class="fail" x="{}" y="{}" width="{}" height="{}"/>', bars)
    marks = [
        (round(LEFT + (index + 0.5) * step, 1), DAYS_HEIGHT - 6, f"{at.day} {at:%b}")
        for index, (at, _) in enumerate(values)
        if index % 7 == 1
    ]
    texts = format_html_join("", '<text x="{}" y="{}" text-anchor="middle">{}</text>', marks)
    return format_html(
        '<svg class="chart" role="img" aria-label="{}" viewBox="0 0 {} {}">'
        '<line class="grid" x1="{}" x2="{}" y1="10" y2="10"/>'
        '<text x="{}" y="14" text-anchor="end">{}</text><line class="axis" x1="{}" x2="{}" y1="{}" y2="{}"/>{}{}</svg>',
        days_summary(values), DAYS_WIDTH, DAYS_HEIGHT, LEFT, DAYS_RIGHT, LEFT - 6, f"{top:,}", LEFT, DAYS_RIGHT, DAYS_BOTTOM,
        DAYS_BOTTOM, rects, texts,
    )  # fmt: skip


def days_summary(values: Sequence[tuple[datetime, int]]) -> str:
    """The chart in words."""
    total, today = sum(n for _, n in values), values[-1][1] if values else 0
    return f"Last {len(values)} days: {total:,} failed runs, {today:,} of them today (UTC)"


# --- Heat map ---------------------------------------------------------------------------------------------------------
HEAT_WIDTH, HEAT_LEFT, HEAT_CELL, HEAT_ROW = 640, 152, 18, 20
HEAT_LEVELS = 5


def heat(rows: Sequence[Heat], first: datetime | None) -> SafeString:
    """Failed runs by type and hour: the darker, the more, each hour's number on hover; the scale is that of all rows."""
    if not rows or first is None:
        return SafeString("")
    top = max(max(row.hours) for row in rows)
    height = HEAT_ROW * len(rows) + 18
    body = [_heat_row(row, index, top, first) for index, row in enumerate(rows)]
    marks = [
        (
            HEAT_LEFT + hour * HEAT_CELL + HEAT_CELL // 2,
            height - 4,
            f"{timezone.localtime(first + timedelta(hours=hour)):%H:%M}",
        )
        for hour in range(0, 24, 4)
    ]
    times = format_html_join("", '<text x="{}" y="{}" text-anchor="middle">{}</text>', marks)
    return format_html(
        '<svg class="chart heat" role="img" aria-label="{}" viewBox="0 0 {} {}">{}{}</svg>',
        f"Failed runs by type and hour, last 24 h: {sum(row.n for row in rows):,}; at most {top:,} in an hour",
        HEAT_WIDTH, height, format_html_join("", "{}", ((part,) for part in body)), times,
    )  # fmt: skip


def _heat_row(row: Heat, index: int, top: int, first: datetime) -> SafeString:
    y = index * HEAT_ROW
    cells = format_html_join(
        "",
        '<rect class="{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>',
        (
            (
                f"h{level(n, top)}",
                HEAT_LEFT + hour * HEAT_CELL,
                y,
                HEAT_CELL - 2,
                HEAT_ROW - 3,
                _heat_words(row.type, n, first, hour),
            )
            for hour, n in enumerate(row.hours)
        ),
    )
    name = row.type if len(row.type) <= 22 else row.type[:21] + "…"
    return format_html(
        '<text x="{}" y="{}" text-anchor="end">{}</text>{}<text class="strong" x="{}" y="{}">{}</text>',
        HEAT_LEFT - 8, y + 13, name or "(empty)", cells, HEAT_LEFT + 24 * HEAT_CELL + 4, y + 13, f"{row.n:,}",
    )  # fmt: skip


def _heat_words(type_: str, n: int, first: datetime, hour: int) -> str:
    return f"{type_[:60]}, {timezone.localtime(first + timedelta(hours=hour)):%H:%M}: {n:,}"


def level(n: int, top: int) -> int:
    """How dark, from 0 to 5, on a logarithmic scale: one failure among thousands still shows."""
    if n <= 0:
        return 0
    return max(1, min(HEAT_LEVELS, math.ceil(HEAT_LEVELS * math.log1p(n) / math.log1p(max(top, 8)))))
