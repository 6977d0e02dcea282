"""Tenants."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.conf import conf
from jobs.console.paging import storable
from jobs.console.queries import lists
from jobs.console.queries.db import TooSlow, database_now, limited
from jobs.console.queries.overview import shared
from jobs.console.views.render import show


@require_safe
def tenants(request: HttpRequest) -> HttpResponse:
    """The busiest tenants, or those whose name has a text."""
    name = request.GET.get("name", "")[:300]
    name = name if storable(name) else ""
    context = {"name": name, "default_cap": conf().tenant_cap, "region_url": request.get_full_path()}
    try:
        oldest = {line.tenant: line.oldest for line in shared.get().tenants}
        with limited():
            rows = lists.tenants(name)
            context |= {"rows": rows, "total": rows[0]["tenants"] if rows else 0, "server_now": database_now()}
        for row in rows:
            row["oldest"] = oldest.get(row["tenant_id"])
    except TooSlow as error:
        context["too_slow"] = str(error)
    return show(request, "console/tenants.html", context)
