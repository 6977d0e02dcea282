"""Workers."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.console.queries import workers as read
from jobs.console.queries.db import database_now, limited
from jobs.console.queries.overview import shared
from jobs.console.views.render import show


@require_safe
def workers(request: HttpRequest) -> HttpResponse:
    """The registry: who runs, who is silent, who stopped in the last days."""
    live = shared.get().live
    with limited():
        rows = read.lines(live, ended_too=True)
        now = database_now()
    alive = [row for row in rows if row.alive]
    silent = [row for row in rows if row.silent and not row.stopped_at]
    context = {
        "rows": rows,
        "server_now": now,
        "alive": len(alive),
        "silent": len(silent),
        "used": sum(row.running for row in alive),
        "slots": sum(row.slots for row in alive),
        "silent_after": read.silent_after(),
    }
    return show(request, "console/workers.html", context)
