"""Tenants: slots, waits, the share of worker time beside the fair one, and who starves."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.conf import conf
from jobs.console import scope, verdicts, words
from jobs.console.paging import storable
from jobs.console.queries import tenants as read
from jobs.console.queries.db import TooSlow
from jobs.console.queries.overview import Detail, Snapshot, TenantLine, detail, shared
from jobs.console.queries.overview import tenants as capacity
from jobs.console.views.render import show
from jobs.rows import Row


@require_safe
def tenants(request: HttpRequest) -> HttpResponse:
    """The busiest tenants, or those whose name has a text; starved ones first."""
    name = request.GET.get("name", "")[:300]
    name = name if storable(name) else ""
    context: dict[str, Any] = {"name": name, "default_cap": conf().tenant_cap, "region_url": request.get_full_path()}
    try:
        now, more = shared.get(), detail.get()
        found = read.busiest(name)
        rows = found.rows
        total = rows[0]["tenants"] if rows else 0
        if len(rows) == read.MOST and not name and not scope.limited():
            total = max(total, more.with_jobs)
        context |= {
            "rows": list(zip(rows, lines(rows, found.oldest, now, more), strict=True)),
            "total": total,
            "at_least": total >= capacity.MOST_COUNTED,
            "server_now": now.at,
            "verdict": _verdict_of_some(rows) if scope.limited() else verdicts.tenants(now, more),
            "fairness": None if scope.limited() else more.fairness,
            "share_minutes": capacity.SHARE_MINUTES,
        }
    except TooSlow as error:
        context["too_slow"] = str(error)
    return show(request, "console/tenants.html", context)


def lines(rows: list[Row], oldest: dict[str, datetime], now: Snapshot, more: Detail) -> list[TenantLine]:
    """What runs, waits and was taken, for the tenants of the page. `oldest`: since when each one's first job waits."""
    found = [
        TenantLine(
            row["tenant_id"], queued=row["queued"], cap=row["cap"], oldest=oldest.get(row["tenant_id"]),
            starved=row["tenant_id"] in more.starved,
        )
        for row in rows
    ]  # fmt: skip
    capacity.fill(found, now.live, more.took, set(more.active))
    if scope.limited():  # a share is one of what all tenants took together
        for line in found:
            line.share = line.fair = None
    return found


def _verdict_of_some(rows: list[Row]) -> words.Verdict:
    waiting = sum(bool(row["queued"]) for row in rows)
    return words.Verdict(f"{words.plural(waiting, 'tenant')} {'waits' if waiting == 1 else 'wait'}")
