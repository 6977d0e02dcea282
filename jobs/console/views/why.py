"""Why the queued jobs of a filter wait."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.console import scope, words
from jobs.console import why as say
from jobs.console.filters import JobFilter
from jobs.console.queries import jobs as read
from jobs.console.queries.db import TooSlow, database_now, limited
from jobs.console.views.render import show
from jobs.queue import pauses, waiting


@require_safe
def why(request: HttpRequest) -> HttpResponse:
    """The reasons, each with its number of jobs; from the claim's own predicate."""
    filter_ = JobFilter.parse(request.GET)
    found: dict[str, Any] = {
        "filter": filter_,
        "chips": filter_.with_states().chips("/why/"),
        "list_url": filter_.with_states("QUEUED").url(),
        "region_url": request.get_full_path(),
    }
    try:
        in_force = scope.pauses(pauses.active())
        lanes = read.lanes(read.searchable(filter_), by_project=any(one.project_id for one in in_force))
        with limited():
            found["server_now"] = database_now()
            reasons = waiting.explain_set(lanes.lanes)
    except TooSlow as error:
        return show(request, "console/why.html", found | {"too_slow": str(error)})

    def narrowed(key: str, value: str) -> str:
        return filter_.with_states("QUEUED").with_text(key, value).url() if value else ""

    shares = say.shares(reasons, narrowed)
    return show(request, "console/why.html", found | {
        "shares": shares,
        "total": reasons.total,
        "count": words.plural(reasons.total, "queued job") if lanes.complete else f"≥ {reasons.total:,} queued jobs",
        "complete": lanes.complete,
        "blocked": sum(reasons.gates.values()),
        "parts": [("act" if one.result == "pass" else "stay", one.n) for one in shares],
    })  # fmt: skip
