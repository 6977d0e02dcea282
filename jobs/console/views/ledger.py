"""The document ledger: what waits, what failed."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.console.queries import lists
from jobs.console.queries.db import database_now, limited
from jobs.console.views.render import show


@require_safe
def ledger(request: HttpRequest) -> HttpResponse:
    """The events that are not done."""
    with limited():
        rows, numbers = lists.ledger()
        now = database_now()
    return show(request, "console/ledger.html", {"rows": rows, "numbers": numbers, "server_now": now})
