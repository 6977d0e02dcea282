"""The jobs list."""

import re
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.views.decorators.http import require_safe

from jobs.console import words
from jobs.console.filters import AGES, TEXTS, JobFilter
from jobs.console.links import job_url
from jobs.console.paging import Page, decode, storable
from jobs.console.queries import jobs as read
from jobs.console.queries.db import TooSlow, database_now
from jobs.console.queries.overview import Snapshot, shared, tenant_caps, type_caps
from jobs.console.tables import JobsTable
from jobs.console.views.render import show
from jobs.domain.states import WORDS
from jobs.templatetags.formats import count_text

_TOKEN = re.compile(r'(\w+):("[^"]*"|\S+)')


@require_safe
def jobs(request: HttpRequest) -> HttpResponse:
    """One page of jobs under the address's filter."""
    if "q" in request.GET:
        return HttpResponseRedirect(search(request.GET))
    filter_ = JobFilter.parse(request.GET)
    return show(request, "console/jobs.html", context(request, filter_))


def context(request: HttpRequest, filter_: JobFilter, path: str = "/jobs/") -> dict[str, Any]:
    """The list of a filter: strip, chips, counts, rows. A read that takes too long leaves the filter usable."""
    after, before = decode(request.GET.get("after", "")), decode(request.GET.get("before", ""))
    found: dict[str, Any] = {
        "filter": filter_,
        "chips": filter_.chips(path),
        "path": path,
        "ages": [(key, label, filter_.age == key) for key, (label, _) in AGES.items()],
        "hidden": [(name, value) for name, value in filter_.params().items() if name != "age"],
        "region_url": request.get_full_path(),
        "unfiltered_url": path,
        "all_url": filter_.with_states().url(path),
    }
    try:
        found["server_now"] = now = database_now()
        snapshot = shared.get()
        page = read.page(filter_, after, before)
        counts = read.count(filter_)
    except TooSlow as error:
        return found | {"too_slow": str(error)}
    table = JobsTable(page.rows, gates(page.rows, snapshot))
    return found | {
        "table": table,
        "now": now,
        "strip": strip(filter_, counts, path),
        "count": certainty(counts, filter_),
        "pager": pager(filter_, page, counts, path),
        "rows": len(page.rows),
    }


def gates(rows: list[dict[str, Any]], snapshot: Snapshot) -> words.Gates:
    """What may keep the rows' queued jobs waiting: from the shared reading, and the caps of their tenants."""
    queued = [row for row in rows if row["status"] == "QUEUED"]
    running: dict[str, int] = {}
    type_running: dict[str, int] = {}
    for row in snapshot.live:
        type_running[row["type"]] = type_running.get(row["type"], 0) + row["n"]
        if not row["inline"]:
            running[row["tenant_id"]] = running.get(row["tenant_id"], 0) + row["n"]
    return words.Gates(
        now=snapshot.at,
        pauses=[line.pause for line in snapshot.pauses],
        handled=snapshot.handled,
        workers=len(snapshot.workers_live),
        running=running,
        caps=tenant_caps(sorted({row["tenant_id"] for row in queued})) if queued else {},
        type_running=type_running,
        type_caps=type_caps(sorted({row["type"] for row in queued})) if queued else {},
    )


def strip(filter_: JobFilter, counts: read.Counts, path: str) -> list[dict[str, Any]]:
    """The states with their counts under the rest of the filter; a click adds one or takes it away."""
    names = [*WORDS, *sorted((set(counts.states) | set(filter_.states)) - set(WORDS))]
    return [
        {
            "state": name,
            "n": _count(counts.states.get(name, 0), counts),
            "zero": counts.known and not counts.states.get(name, 0),
            "on": name in filter_.states,
            "url": filter_.with_states(*_toggled(filter_.states, name)).url(path),
        }
        for name in names
    ]


def _toggled(states: tuple[str, ...], name: str) -> list[str]:
    return [one for one in states if one != name] if name in states else [*states, name]


def _count(number: int, counts: read.Counts) -> str:
    if not counts.known:
        return "?"
    return count_text(number) if counts.complete else f"≥ {number:,}"


def certainty(counts: read.Counts, filter_: JobFilter) -> dict[str, str]:
    """The result's size and how sure it is."""
    if not counts.known:
        return {"text": "Jobs", "note": "counting took too long"}
    number = counts.of(filter_.states)
    if counts.complete:
        return {"text": words.plural(number, "job"), "note": ""}
    return {"text": f"≥ {number:,} jobs", "note": f"counting stopped at {read.MOST_COUNTED:,} rows"}


def pager(filter_: JobFilter, page: Page, counts: read.Counts, path: str) -> dict[str, Any]:
    """First, Newer, Older."""
    size = len(page.rows)
    place = f"Rows 1–{size:,}" if page.first else f"{size:,} rows"
    text = f"{place} of {certainty(counts, filter_)['text'].split(' job')[0]}" if counts.known else place
    return {
        "text": text if size else "No rows",
        "first_url": None if page.first else filter_.url(path),
        "newer_url": filter_.url(path, before=page.newer.encode()) if page.newer else None,
        "older_url": filter_.url(path, after=page.older.encode()) if page.older else None,
    }


def search(query: QueryDict) -> str:
    """Where the search field leads: an id to its job, a tenant or type to its list, `key:value` to the filter."""
    text = query.get("q", "").strip()
    filter_ = JobFilter.parse(query)
    if not text or not storable(text) or len(text) > 2000:
        return filter_.url()
    if read.find(text):
        kind = (read.find(text) or {})["kind"]
        if kind == "id":
            return job_url(text)
        return _with(filter_, kind, text).url()
    for key, value in _TOKEN.findall(text):
        if key in TEXTS or key in {"state", "age"}:
            filter_ = _with(filter_, key, value.strip('"'))
            text = text.replace(f"{key}:{value}", "", 1)
    rest = " ".join(text.split())[:300]
    return (_with(filter_, "text", rest) if rest else filter_).url()


def _with(filter_: JobFilter, key: str, value: str) -> JobFilter:
    params = QueryDict(mutable=True)
    params.update({name: str(kept) for name, kept in filter_.params().items()} | {key: value})
    return JobFilter.parse(params)
