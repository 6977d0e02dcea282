"""The audit trail: who did what, when, why, to what, from where."""

import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_safe

from jobs.conf import conf
from jobs.console.export import FORMS, Csv, Json, Value, moment
from jobs.console.filters import Chip
from jobs.console.links import job_url
from jobs.console.paging import decode
from jobs.console.permissions import can, who_may
from jobs.console.queries import audit as read
from jobs.console.queries.audit import AuditFilter
from jobs.console.queries.db import TooSlow, apart, database_now, limited
from jobs.console.views.render import action, person, show
from jobs.domain.errors import InvalidInput
from jobs.domain.masking import mask_json
from jobs.operations import exports
from jobs.rows import Row

PATH = "/audit/"
EXPORT_ROWS = 500
MOST_LINKS = 50
# What was done to one job, by the name of the action.
OF_JOBS = {
    "enqueue",
    "cancel",
    "force_cancel",
    "retry",
    "rerun",
    "run_now",
    "set_priority",
    "purge",
    "restore",
    "reveal",
}


@require_safe
def audit(request: HttpRequest) -> HttpResponse:
    """Newest first, under the address's filter."""
    filter_ = AuditFilter.parse(request.GET)
    context: dict[str, Any] = {
        "filter": filter_,
        "chips": [Chip(read.WORDS[name], value, _url(filter_.without(name))) for name, value in filter_.texts.items()],
        "hidden": [(name, value) for name, value in filter_.texts.items() if name not in {"text", "action"}],
        "query": urlencode(filter_.texts),
        "may_export": can(request.user, "export_audit"),
        "who_exports": who_may("export_audit"),
        "region_url": request.get_full_path(),
    }
    try:
        with limited():
            page = read.page(filter_, decode(request.GET.get("after", "")), decode(request.GET.get("before", "")))
            context |= {"actions": read.actions(), "server_now": database_now()}
    except TooSlow as error:
        return show(request, "console/audit.html", context | {"too_slow": str(error)})
    for row in page.rows:
        row |= _links(row) | {"numbers": _numbers(row["numbers"])}
    context |= {"rows": page.rows, "pager": _pager(filter_, page)}
    return show(request, "console/audit.html", context)


def _url(params: Any, **more: str) -> str:
    found = dict(params) | more
    return PATH + ("?" + urlencode(found) if found else "")


def _pager(filter_: AuditFilter, page: Any) -> dict[str, Any]:
    return {
        "text": f"{len(page.rows):,} entries" if page.rows else "No entries",
        "first_url": None if page.first else _url(filter_.texts),
        "newer_url": _url(filter_.texts, before=page.newer.encode()) if page.newer else None,
        "older_url": _url(filter_.texts, after=page.older.encode()) if page.older else None,
    }


def _links(row: Row) -> dict[str, str | None]:
    """Where the thing is that was acted on."""
    target, url = row["target"], None
    kind, _, name = target.partition(" ")
    if row["action"] in {"cap", "type_cap"} and kind in {"tenant", "type"}:
        url = reverse(f"console:{kind}") + "?" + urlencode({"id": name})
    elif row["action"] == "change_group" and kind == "group":
        url = reverse("console:group") + "?" + urlencode({"id": name})
    elif row["action"] in {"pause", "resume"}:
        url = reverse("console:pauses")
    elif row["action"] in OF_JOBS and not target.endswith(" jobs"):
        url = job_url(target)
    return {"target_url": url, "operation_url": _operation_url(row["operation_id"])}


def _numbers(text: str | None) -> str:
    """`done 3, skipped 1`."""
    try:
        found = json.loads(text or "{}")
    except ValueError:  # it was cut
        return text or ""
    return ", ".join(f"{name} {value}" for name, value in found.items()) if isinstance(found, dict) else str(found)


def _operation_url(operation_id: int | None) -> str | None:
    if operation_id is None:
        return None
    try:
        return reverse("console:operation", args=[operation_id])
    except NoReverseMatch:
        return reverse("console:operations")


@require_safe
def entry(request: HttpRequest) -> HttpResponse:
    """One entry: what was before and after, and the rows it concerns."""
    raw = request.GET.get("id", "")
    if not (raw.isascii() and raw.isdigit() and len(raw) < 19):
        raise Http404
    with limited():
        row = read.find(int(raw))
        if row is None:
            raise Http404
        keys = list(row["before"]) if row["action"] in OF_JOBS and isinstance(row["before"], dict) else []
        jobs = read.existing(keys[:MOST_LINKS])
        now = database_now()
    context = {
        "entry": row | _links(row),
        "jobs": [(one, job_url(one), row["before"][one], one in jobs) for one in keys[:MOST_LINKS]],
        "jobs_left": max(0, len(keys) - MOST_LINKS),
        "server_now": now,
    }
    return show(request, "console/audit_entry.html", context)


@action("export_audit")
def export(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """The entries of the address's filter as a file, streamed. A POST: it is audited itself."""
    form = request.POST.get("form", "csv")
    if form not in FORMS:
        raise InvalidInput("form", "it is neither csv nor json")
    filter_ = AuditFilter.parse(request.GET)
    exports.begun(person(request), dict(filter_.texts), form, "audit")
    writer = FORMS[form]()
    response = StreamingHttpResponse(_stream(filter_, writer), content_type=f"{writer.kind}; charset=utf-8")
    name = f"audit-{database_now():%Y%m%d-%H%M%S}.{writer.ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Accel-Buffering"] = "no"
    return response


async def _stream(filter_: AuditFilter, writer: Csv | Json) -> AsyncIterator[bytes]:
    after: int | None = None
    yield writer.head(read.NAMES)
    while rows := await apart(_batch, filter_, after):
        yield writer.rows(read.NAMES, [_values(row) for row in rows], first=after is None)
        after = rows[-1]["id"]
    yield writer.foot()


def _batch(filter_: AuditFilter, after: int | None) -> list[Row]:
    with limited(10):
        return read.rows(filter_, after, EXPORT_ROWS)


def _values(row: Row) -> list[Value]:
    more = conf().masked_keys
    masked = {name: mask_json(row[name], more)[0] for name in ("filter", "numbers", "before", "after") if row[name]}
    return [(row | masked | {"at": moment(row["at"])})[name] for name in read.NAMES]
