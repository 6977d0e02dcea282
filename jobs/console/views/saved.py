"""Saved filters: each of them its user's own."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict

from jobs.console.filters import JobFilter
from jobs.console.views.render import action
from jobs.domain.errors import InvalidInput
from jobs.operations import saved_filters


@action("read")
def save(request: HttpRequest) -> HttpResponse:
    """Keeps the filter of the form's `query` under a name."""
    filter_ = JobFilter.parse(QueryDict(request.POST.get("query", "")))
    if filter_.ignored:
        raise InvalidInput(filter_.ignored[0], "it cannot be used, and without it the filter would find more")
    kept = saved_filters.save(request.user, request.POST.get("name", ""), filter_.query())
    return HttpResponseRedirect("/jobs/?" + kept.query)


@action("read")
def forget(request: HttpRequest) -> HttpResponse:
    """Forgets one."""
    number = request.POST.get("id", "")
    if number.isascii() and number.isdigit() and len(number) < 18:
        saved_filters.forget(request.user, int(number))
    return HttpResponseRedirect("/jobs/")
