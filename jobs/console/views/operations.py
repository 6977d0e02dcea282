"""Bulk operations."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.console.queries import lists
from jobs.console.queries.db import database_now, limited
from jobs.console.views.render import show


@require_safe
def operations(request: HttpRequest) -> HttpResponse:
    """The newest, with how far each is."""
    with limited():
        rows = lists.operations()
        now = database_now()
    return show(request, "console/operations.html", {"rows": rows, "server_now": now})
