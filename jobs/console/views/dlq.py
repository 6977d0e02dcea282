"""The dead-letter queue: its groups, then its rows."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.console.filters import JobFilter
from jobs.console.queries import lists
from jobs.console.queries.db import TooSlow, limited
from jobs.console.views.jobs import context as jobs_context
from jobs.console.views.render import show
from jobs.domain.states import DEAD_LETTERED

PATH = "/dlq/"


@require_safe
def dlq(request: HttpRequest) -> HttpResponse:
    """Dead letters under the address's filter, and the groups of all of them."""
    filter_ = JobFilter.parse(request.GET)
    context = jobs_context(request, replace(filter_, states=(DEAD_LETTERED,)), PATH)
    try:
        with limited():
            groups, more = lists.dead_groups()
    except TooSlow:
        return show(request, "console/dlq.html", context | {"groups_too_slow": True})
    for group in groups:
        group["url"] = JobFilter(texts={"type": group["type"]} | _group(group["fingerprint"])).url(PATH)
    return show(request, "console/dlq.html", context | {"groups": groups, "groups_more": more})


def _group(fingerprint: str | None) -> dict[str, str]:
    return {"group": fingerprint} if fingerprint else {}
