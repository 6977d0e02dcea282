"""Tags that know the console's addresses and words."""

from datetime import datetime
from hashlib import sha256

from django import template
from django.utils.safestring import SafeString

from jobs.console import verdicts, words
from jobs.console.forecast import Forecast
from jobs.console.links import group_url as group_address
from jobs.console.links import job_url, runs_url
from jobs.console.queries.overview import TenantLine
from jobs.domain.groups import OPEN, WORDS
from jobs.templatetags import figures
from jobs.templatetags.formats import count_text, duration_text, percent_text
from jobs.templatetags.markup import format_html

register = template.Library()


@register.simple_tag
def job_link(job_id: str) -> SafeString:
    """`{% job_link job.origin_id %}`: the id as a link to its page."""
    shown = job_id if len(job_id) <= 60 else job_id[:60] + "…"
    return format_html('<a class="mono" href="{}" title="{}">{}</a>', job_url(job_id), job_id, shown)


@register.filter
def first_line(text: str | None) -> str:
    """`{{ change.error|first_line }}`: the line that says what went wrong."""
    return words.first_line(text)


@register.simple_tag
def change_words(source: str | None, target: str | None) -> str:
    """`{% change_words change.source change.target %}`: `Running → Done`."""
    return words.transition(source, target)


@register.simple_tag
def group_url(fingerprint: str) -> str:
    """`{% group_url line.fingerprint %}`: the address of a failure group."""
    return group_address(fingerprint)


@register.simple_tag
def failed_runs_url(span: str, **params: str) -> str:
    """`{% failed_runs_url "1h" group=line.fingerprint %}`: the failed runs behind a number."""
    return runs_url(
        span=span, **{name: "-" if name == "failure" and not value else value for name, value in params.items()}
    )


@register.simple_tag
def group_state(state: str) -> SafeString:
    """`{% group_state line.state %}`: what asks for somebody is inverted, the rest is grey."""
    word = WORDS.get(state, state)  # type: ignore[call-overload]
    return format_html('<span class="tag {}">{}</span>', "inverted" if state in OPEN else "plain", word)


@register.simple_tag
def empty_at(forecast: Forecast, now: datetime) -> str:
    """`{% empty_at line.forecast now.at %}`: when a queue will be empty, as a range, or why that cannot be said."""
    return verdicts.empty_in(forecast, now) or str(forecast.outlook)


@register.simple_tag
def minutes(bounds: tuple[float, float]) -> str:
    """`{% minutes one.then %}`: a span of minutes as a range."""
    first, last = (duration_text(60 * bound) for bound in bounds)
    return first if first == last else f"{first} to {last}"


@register.simple_tag(name="job_url")
def job_address(job_id: str) -> str:
    """`{% job_url run.id %}`: the address of a job."""
    return job_url(job_id)


@register.simple_tag
def between(start: datetime | None, end: datetime | None) -> SafeString:
    """`{% between run.started_at run.at %}`: how long it took; a dash when one is unknown."""
    if start is None or end is None:
        return format_html('<span class="none">{}</span>', "–")
    return format_html("{}", duration_text((end - start).total_seconds()))


@register.simple_tag
def slots_of(line: TenantLine) -> SafeString:
    """`{% slots_of line %}`: a tenant's slots in use, of its cap."""
    if line.suspended:
        return format_html('<span class="num">{}</span>', "suspended, cap 0")
    if line.cap is None:
        return format_html('<span class="num">{}, unlimited</span>', count_text(line.running))
    slots = figures.slots_figure(line.running, line.cap, line.silent, 60)
    return format_html('{} <span class="num">{} of {}</span>', slots, count_text(line.running), count_text(line.cap))


@register.simple_tag
def share_of(line: TenantLine) -> SafeString:
    """`{% share_of line %}`: a tenant's share of worker time, beside the fair one."""
    if line.share is None:
        return format_html('<span class="none">{}</span>', "–")
    bar, tone = (
        figures.share_figure(line.share, line.fair, 60),
        " strong" if line.greedy else "" if line.share else " zero",
    )
    return format_html('{} <span class="num{}">{}</span>', bar, tone, percent_text(line.share))


@register.filter
def percent(share: float | None) -> str:
    """`{{ line.share|percent }}`: `41 %`, `< 1 %`."""
    return percent_text(share)


@register.filter
def tail(text: str, characters: int) -> str:
    """`{{ job_id|tail:8 }}`: the end of an id, which tells ids of one time apart."""
    return text if len(text) <= characters else "…" + text[-characters:]


@register.filter
def row_id(text: str) -> str:
    """`<tr id="group-{{ fingerprint|row_id }}">`: an id for any text, the same for the same text."""
    return sha256(text.encode()).hexdigest()[:16]
