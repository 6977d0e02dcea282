"""The audit trail."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.console.paging import decode, storable
from jobs.console.queries import lists
from jobs.console.queries.db import database_now, limited
from jobs.console.views.render import show


@require_safe
def audit(request: HttpRequest) -> HttpResponse:
    """Who did what, newest first."""
    only = {name: value for name in ("actor", "action") if (value := request.GET.get(name, "")[:300])}
    only = {name: value for name, value in only.items() if storable(value)}
    with limited():
        page = lists.audit(decode(request.GET.get("after", "")), decode(request.GET.get("before", "")), **only)
        now = database_now()

    def url(**more: str) -> str:
        params = only | more
        return "/audit/" + ("?" + urlencode(params) if params else "")

    pager = {
        "text": f"{len(page.rows):,} entries" if page.rows else "No entries",
        "first_url": None if page.first else url(),
        "newer_url": url(before=page.newer.encode()) if page.newer else None,
        "older_url": url(after=page.older.encode()) if page.older else None,
    }
    context = {
        "rows": page.rows,
        "pager": pager,
        "only": only,
        "server_now": now,
        "region_url": request.get_full_path(),
    }
    return show(request, "console/audit.html", context)
