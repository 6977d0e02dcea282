"""Failed runs by type and failure type."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.console import words
from jobs.console.queries import lists
from jobs.console.queries.db import TooSlow, database_now, limited
from jobs.console.views.render import show

SPANS = {"1h": ("1 h", 1), "24h": ("24 h", 24)}


@require_safe
def failures(request: HttpRequest) -> HttpResponse:
    """What failed in the last hour or day, from the counters."""
    span = request.GET.get("span", "1h")
    span = span if span in SPANS else "1h"
    context: dict[str, Any] = {
        "spans": [(key, text, key == span) for key, (text, _) in SPANS.items()],
        "span": SPANS[span][0],
    }
    try:
        with limited():
            rows = lists.failures(SPANS[span][1])
            context |= {"rows": rows, "verdict": words.failing(rows), "server_now": database_now()}
    except TooSlow as error:
        context["too_slow"] = str(error)
    return show(request, "console/failures.html", context | {"region_url": request.get_full_path()})
