"""The dead-letter queue: its groups, then its rows; and the trash, from where a purge is undone."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from jobs.console.bulk import Ask
from jobs.console.filters import NO_GROUP, JobFilter
from jobs.console.paging import Page, decode
from jobs.console.permissions import can, who_may
from jobs.console.queries import lists
from jobs.console.queries import operations as read
from jobs.console.queries.db import TooSlow, database_now, limited
from jobs.console.views.jobs import context as jobs_context
from jobs.console.views.render import show
from jobs.domain.bulk import Kind
from jobs.domain.states import DEAD_LETTERED
from jobs.queue.retention import TRASH_KEPT

PATH = "/dlq/"


@require_safe
def dlq(request: HttpRequest) -> HttpResponse:
    """Dead letters under the address's filter, and the groups of all of them."""
    filter_ = JobFilter.parse(request.GET)
    context = jobs_context(request, replace(filter_, states=(DEAD_LETTERED,)), PATH) | _rights(request)
    shown = replace(filter_, states=())
    context |= {"redrive_url": Ask(Kind.RETRY, shown).url(), "purge_url": _purge(shown), "narrowed": not shown.is_empty}
    try:
        with limited():
            groups, more = lists.dead_groups()
    except TooSlow:
        return show(request, "console/dlq.html", context | {"groups_too_slow": True})
    for group in groups:
        of = JobFilter(texts={"type": group["type"]} | _group(group["fingerprint"]))
        group["url"] = of.url(PATH)
        group["redrive_url"], group["purge_url"] = Ask(Kind.RETRY, of).url(), _purge(of)
        group["on"] = shown.texts.items() >= of.texts.items()
    return show(request, "console/dlq.html", context | {"groups": groups, "groups_more": more})


def _rights(request: HttpRequest) -> dict[str, Any]:
    return {
        "may_redrive": can(request.user, "bulk_retry"),
        "who_redrives": who_may("bulk_retry"),
        "may_purge": can(request.user, "bulk_purge"),
        "who_purges": who_may("bulk_purge"),
    }


def _purge(filter_: JobFilter) -> str:
    return Ask(Kind.PURGE, filter_.with_states(DEAD_LETTERED)).url()


def _group(fingerprint: str | None) -> dict[str, str]:
    return {"group": fingerprint or NO_GROUP}


@require_safe
def trash(request: HttpRequest) -> HttpResponse:
    """What was purged, newest first, and until when it can be restored."""
    after, before = decode(request.GET.get("after", "")), decode(request.GET.get("before", ""))
    with limited():
        page, now = read.trash(after, before), database_now()
        number, oldest = read.trash_size()
    for row in page.rows:
        row["until"] = row["purged_at"] + TRASH_KEPT
        row["restore_url"] = Ask(Kind.RESTORE, JobFilter(ids=(row["id"],))).url()
        row["operation_url"] = reverse("console:operation", args=[row["operation_id"]]) if row["operation_id"] else ""
    context = {
        "rows": page.rows,
        "number": number,
        "oldest": oldest,
        "kept_days": TRASH_KEPT // timedelta(days=1),
        "pager": _pager(page),
        "may_restore": can(request.user, "bulk_restore"),
        "who_restores": who_may("bulk_restore"),
        "region_url": request.get_full_path(),
        "server_now": now,
    }
    return show(request, "console/dlq_trash.html", context)


def _pager(page: Page) -> dict[str, Any]:
    path = reverse("console:trash")
    return {
        "text": f"{len(page.rows):,} rows",
        "first_url": None if page.first else path,
        "newer_url": f"{path}?before={page.newer.encode()}" if page.newer else None,
        "older_url": f"{path}?after={page.older.encode()}" if page.older else None,
    }
