"""Tags that know the console's addresses and words."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from jobs.console import words
from jobs.console.links import job_url

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
