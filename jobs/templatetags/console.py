"""Tags of the console's templates: states, icons, figures, times. Presentation only, nothing is decided here."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from django import template
from django.template import Context
from django.templatetags.static import static
from django.utils import timezone
from django.utils.safestring import SafeString

from jobs.domain import states
from jobs.templatetags import figures, formats, json_tree
from jobs.templatetags.markup import format_html

register = template.Library()


class Look(NamedTuple):
    """How a state is shown: its word and the name shared by its icon and its CSS class."""

    word: str
    name: str


def look(status: object, dlq: bool = False) -> Look:
    """The look of a stored status; a value we don't know keeps its own text and gets the unknown icon."""
    shown = states.state(str(status), dlq)
    if shown in states.WORDS:
        return Look(states.word(shown), shown.lower().replace("_", "-"))
    return Look(shown or "(empty)", "unknown")


@lru_cache(maxsize=512)  # a page has a hundred of them
def _sprite(sheet: str, name: str, classes: str = "icon") -> SafeString:
    return format_html(
        '<svg class="{}" aria-hidden="true"><use href="{}#{}"/></svg>', classes, static(f"img/{sheet}.svg"), name
    )


@register.simple_tag
def icon(name: str, size: int = 16) -> SafeString:
    """`{% icon "search" %}`: an outline icon of img/icons.svg; size 16 or 14."""
    return _sprite("icons", name, "icon s14" if size == 14 else "icon")


@register.simple_tag
def state_icon(status: object, dlq: bool = False) -> SafeString:
    """`{% state_icon job.status job.dlq %}`: the state's icon alone, in its colour; a word has to stand beside it."""
    name = look(status, dlq).name
    return format_html('<span class="state {}">{}</span>', name, _sprite("states", name))


@register.simple_tag
def state(status: object, dlq: bool = False) -> SafeString:
    """`{% state job.status job.dlq %}`: icon and word in the state's colour, for tables and lists."""
    word, name = look(status, dlq)
    return format_html(
        '<span class="state {}" title="{}">{}<span>{}</span></span>', name, status, _sprite("states", name), word
    )


@register.simple_tag
def state_badge(status: object, dlq: bool = False) -> SafeString:
    """`{% state_badge job.status job.dlq %}`: the state as a badge, for headers only."""
    word, name = look(status, dlq)
    return format_html(
        '<span class="badge {}" title="{}">{}<span>{}</span></span>', name, status, _sprite("states", name), word
    )


@register.filter
def state_word(status: object) -> str:
    """`{{ status|state_word }}`: the state's word alone."""
    return look(status).word


@register.simple_tag
def mark(kind: str, text: str = "") -> SafeString:
    """`{% mark "pass" %}`: a gate's result, kind pass, blocks or unknown; a text replaces the default word."""
    return format_html(
        '<span class="mark-{}">{}<span>{}</span></span>', kind, _sprite("states", kind), text or kind.capitalize()
    )


@register.simple_tag
def slots(used: int, total: int, silent: int = 0, width: int = 86) -> SafeString:
    """`{% slots tenant.running tenant.cap %}`: slots in use, of a silent worker, and free."""
    return figures.slots_figure(used, total, silent, width)


@register.simple_tag
def share(part: float, fair: float | None = None, width: int = 86) -> SafeString:
    """`{% share 0.41 0.12 %}`: a share of 1 with a tick at the fair share."""
    return figures.share_figure(part, fair, width)


@register.simple_tag
def progress(percent: int | None, tone: str = "running", width: int = 64) -> SafeString:
    """`{% progress job.progress %}`: a bar; tone running (green) or step (grey, for a job that does not run now)."""
    return figures.progress_figure(percent or 0, tone, width)


@register.simple_tag
def sparkline(values: Sequence[int], tone: str = "faint") -> SafeString:
    """`{% sparkline group.hours "failed" %}`: 24 bars; tone faint, ink, failed or dead."""
    return figures.spark_figure(values, tone)


@register.simple_tag
def parts_bar(parts: Sequence[tuple[str, int]], label: str) -> SafeString:
    """`{% parts_bar parts "1,131 act, 73 stay" %}`: a full-width bar cut into (tone, count)."""
    return figures.parts_figure(parts, label)


@register.filter
def json_value(value: object) -> SafeString:
    """`{{ job.config|json_value }}`: stored JSON as a tree that opens and closes."""
    return json_tree.tree(value)


@register.filter
def duration(value: timedelta | float | None) -> str:
    """`{{ seconds|duration }}`: a length of time (timedelta or seconds); `–` if there is none."""
    if value is None or value == "":
        return "–"
    return formats.duration_text(value.total_seconds() if isinstance(value, timedelta) else float(value))


@register.filter
def count(value: int | None) -> str:
    """`{{ total|count }}`: 18,204; `–` if there is none."""
    return formats.count_text(value)


@register.filter
def capped(value: int, limit: int = 100_000) -> str:
    """`{{ total|capped:100000 }}`: `≥ 100,000` from the limit on."""
    return formats.capped_text(value, limit)


@register.filter
def short(value: int | str | None) -> str:
    """`{{ total|short }}`: 18.2k for narrow places; text is left as it is."""
    return formats.short_count(value) if isinstance(value, int) else str(value or "")


@register.filter
def filesize_short(size: int) -> str:
    """`{{ size|filesize_short }}`: bytes as B, KB or MB."""
    return formats.bytes_text(size)


def _now(context: Context) -> datetime:
    """The database's clock if the view gave it as `server_now`, else this server's."""
    given = context.get("server_now")
    return given if isinstance(given, datetime) else timezone.now()


def _time(moment: datetime, text: str, extra: SafeString | str = "") -> SafeString:
    exact = formats.exact_text(moment, timezone.get_current_timezone())
    return format_html('<time datetime="{}" title="{}"{}>{}</time>', formats.iso_text(moment), exact, extra, text)


def _relative(context: Context, moment: datetime | None, form: str) -> SafeString:
    if moment is None:
        return format_html('<span class="none">{}</span>', "–")
    text = formats.relative_text(moment, _now(context), form)
    return _time(moment, text, format_html(' data-rel="{}"', form))


@register.simple_tag(takes_context=True)
def ago(context: Context, moment: datetime | None) -> SafeString:
    """`{% ago job.heartbeat_at %}`: `5 s ago`, kept fresh by times.js; exact time on hover."""
    return _relative(context, moment, "ago")


@register.simple_tag(takes_context=True)
def until(context: Context, moment: datetime | None) -> SafeString:
    """`{% until job.next_retry_at %}`: `in 1 min 30 s`, then `due`."""
    return _relative(context, moment, "in")


@register.simple_tag(takes_context=True)
def age(context: Context, moment: datetime | None) -> SafeString:
    """`{% age job.queued_at %}`: the bare length since then, `27 min`, for table columns and running times."""
    return _relative(context, moment, "age")


@register.simple_tag
def moment(value: datetime | None, form: str = "time") -> SafeString:
    """`{% moment event.at "millis" %}`: absolute in the viewer's zone; form time, millis, date or datetime."""
    if value is None:
        return format_html('<span class="none">{}</span>', "–")
    return _time(value, formats.moment_text(value, timezone.get_current_timezone(), form))


@register.simple_tag(takes_context=True)
def as_of(context: Context) -> SafeString:
    """`{% as_of %}`: `as of 03:19:42`, the moment the figures of this page or fragment were read."""
    return format_html('<span class="as-of">as of {}</span>', moment(_now(context)))


@register.simple_tag(takes_context=True)
def now_iso(context: Context) -> str:
    """The server's time for `data-server-now`, from which the browser counts."""
    return formats.iso_text(_now(context))


@register.simple_tag(takes_context=True)
def zone_label(context: Context) -> str:
    """The zone in which times are shown: `Berlin, UTC+1`, or `UTC`."""
    return formats.zone_text(timezone.get_current_timezone(), _now(context))


@register.simple_tag(takes_context=True)
def zone_seconds(context: Context) -> int:
    """The zone's offset from UTC in force now, in seconds, for the clock that the browser shows."""
    offset = _now(context).astimezone(timezone.get_current_timezone()).utcoffset() or timedelta()
    return int(offset.total_seconds())
