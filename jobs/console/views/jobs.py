"""The jobs list."""

import re
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.views.decorators.http import require_safe

from jobs.console import scope, why, words
from jobs.console.filters import AGES, TEXTS, JobFilter
from jobs.console.links import job_url
from jobs.console.paging import Page, decode, storable
from jobs.console.permissions import can, who_may
from jobs.console.queries import jobs as read
from jobs.console.queries import saved
from jobs.console.queries.db import TooSlow, database_now, limited, one_snapshot
from jobs.console.tables import JobsTable
from jobs.console.views.bulk import menu
from jobs.console.views.render import show, wants_part
from jobs.domain.failures import FailureType
from jobs.domain.states import WORDS
from jobs.queue import pauses, waiting
from jobs.templatetags.formats import capped_text, count_text

_TOKEN = re.compile(r'(\w+)(?:\.([\w.-]+))?:("[^"]*"|\S+)')
# The form of all parts of a filter: the columns of the dialog, each with (name, hint).
FORM: tuple[tuple[tuple[str, str], ...], ...] = (
    (("type", ""), ("tenant", ""), ("project", "Quicker together with its tenant"), ("submitted", ""),
     ("priority", "5, >0 or <=0"), ("worker", "What a worker runs now")),
    (("failure", ""), ("error", "In its first 500 characters"), ("group", ""), ("text", "Quicker with a time"),
     ("config", "url, or auth.kind=form"), ("from", "2026-11-30 or 2026-11-30T14:00"), ("to", "")),
)  # fmt: skip


@require_safe
def jobs(request: HttpRequest) -> HttpResponse:
    """One page of jobs under the address's filter."""
    if "q" in request.GET:
        return HttpResponseRedirect(search(request.GET))
    filter_ = JobFilter.parse(request.GET)
    if any(value == "" for values in request.GET.lists() for value in values[1]):
        return HttpResponseRedirect(filter_.url())  # a form's empty fields do not stay in the address
    found = context(request, filter_)
    if not wants_part(request):
        mine = tabs(request, filter_)
        found |= {"tabs": mine, "saved_tab": next((one for one in mine if one["on"]), None), "form": form(filter_)}
    return show(request, "console/jobs.html", found)


def context(request: HttpRequest, filter_: JobFilter, path: str = "/jobs/") -> dict[str, Any]:
    """The list of a filter: strip, chips, counts, rows. A read that takes too long leaves the filter usable."""
    after, before = decode(request.GET.get("after", "")), decode(request.GET.get("before", ""))
    found: dict[str, Any] = {
        "filter": filter_,
        "chips": filter_.chips(path),
        "path": path,
        "ages": [(key, label, filter_.age == key) for key, (label, _) in AGES.items()],
        "hidden": hidden(filter_),
        "region_url": request.get_full_path(),
        "unfiltered_url": path,
        "all_url": filter_.with_states().url(path),
        "can_export": can(request.user, "export"),
        "who_exports": who_may("export"),
        "export_url": filter_.url("/export/"),
    }
    try:
        with limited(), one_snapshot():
            searched = read.searchable(filter_)
            found["server_now"] = now = database_now()
            page = read.page(searched, after, before)
            counts = read.count(searched, page)
            table = JobsTable(page.rows, gates(page.rows, now))
            found["leavers"] = [] if page.rows or not page.first else leavers(searched, path)
    except TooSlow as error:
        return found | {"too_slow": str(error), "narrower": narrower(filter_, path)}
    waits = counts.states.get("QUEUED", 0)
    return found | {
        "table": table,
        "now": now,
        "strip": strip(filter_, counts, path),
        "count": certainty(counts, filter_, page),
        "pager": pager(filter_, page, counts, path),
        "rows": len(page.rows),
        "only_lately": searched is not filter_,
        "why_url": filter_.with_states().url("/why/") if waits and _shows_queued(filter_) else "",
        "why_count": _count(waits, counts),
        "pinned_url": pinned(filter_, now, path),
        "bulk_menu": menu(request, filter_),
    }


def _shows_queued(filter_: JobFilter) -> bool:
    return not filter_.states or "QUEUED" in filter_.states


def hidden(filter_: JobFilter) -> list[tuple[str, str]]:
    """The filter as hidden fields of a form that changes its age."""
    params = filter_.params()
    return [(name, value) for name, one in params.items() if name != "age"
            for value in (one if isinstance(one, list) else [one])]  # fmt: skip


def pinned(filter_: JobFilter, now: datetime, path: str) -> str:
    """The address of what matches now: jobs that arrive later do not join."""
    until = filter_.texts.get("to") or now.isoformat(timespec="milliseconds")
    return filter_.with_text("to", until).url(path)


def leavers(filter_: JobFilter, path: str, most: int = 5) -> list[tuple[str, str, str]]:
    """Which part of a filter leaves no job: (part, how many match without it, address)."""
    names = [*filter_.texts, *(["age"] if filter_.age else []), *(["id"] if filter_.ids else [])]
    names += ["state"] if filter_.states else []
    found = []
    for name in names[:most] if names[1:] else []:
        rest = filter_.without(name)
        if number := read.some(rest):
            found.append((TEXTS.get(name, name), capped_text(number, 1_000), rest.url(path)))
    return found


def narrower(filter_: JobFilter, path: str) -> list[tuple[str, str]]:
    """What would make the read faster: (words, address)."""
    if filter_.age in {"", "7d", "30d"} and not {"from", "to"} & set(filter_.texts):
        return [("Only the last 24 h", replace(filter_, age="24h").url(path))]
    return []


def tabs(request: HttpRequest, filter_: JobFilter) -> list[dict[str, Any]]:
    """The saved filters of this user; the one in force is marked."""
    now = filter_.query()
    return [
        {"name": one.name, "id": one.id, "url": "/jobs/?" + one.query, "on": one.query == now}
        for one in saved.of(request.user)
    ]


def form(filter_: JobFilter) -> list[list[dict[str, Any]]]:
    """The dialog's fields, filled as the filter is."""
    choices = {"failure": list(FailureType)}
    return [
        [
            {"name": name, "label": TEXTS[name].capitalize(), "hint": hint, "value": filter_.texts.get(name, ""),
             "choices": choices.get(name, [])}
            for name, hint in column
        ]
        for column in FORM
    ]  # fmt: skip


def gates(rows: list[dict[str, Any]], now: datetime) -> words.Gates:
    """Why the rows' queued jobs wait, from the claim's own predicate."""
    queued = [row for row in rows if row["status"] == "QUEUED"]
    if not queued:
        return words.Gates(now)
    in_force = scope.pauses(pauses.active())
    found = waiting.explain([row["id"] for row in queued])
    return words.Gates(now, {row["id"]: why.sentence(row, found.get(row["id"]), in_force) for row in queued})


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


def certainty(counts: read.Counts, filter_: JobFilter, page: Page) -> dict[str, str]:
    """The result's size and how sure it is."""
    if page.whole:
        return {"text": words.plural(len(page.rows), "job"), "note": "exact"}
    if not counts.known:
        about = f"{about_text(counts.about)} jobs" if counts.about else "Jobs"
        return {"text": about, "note": "by the statistics; counting took too long"}
    number = counts.of(filter_.states)
    if counts.complete:
        return {"text": words.plural(number, "job"), "note": "exact"}
    about = f", {about_text(counts.about)} by the statistics" if counts.about and counts.about > number else ""
    return {"text": f"≥ {number:,} jobs", "note": f"counting stopped at {counts.most:,} rows{about}"}


def about_text(number: int) -> str:
    """An estimate, with no more digits than it deserves."""
    for size, unit in ((1_000_000, " M"), (1_000, " k")):
        if number >= size:
            return f"≈ {number / size:.2g}{unit}" if number < 100 * size else f"≈ {number // size:,}{unit}"
    return f"≈ {number}"


def pager(filter_: JobFilter, page: Page, counts: read.Counts, path: str) -> dict[str, Any]:
    """First, Newer, Older."""
    size = len(page.rows)
    place = f"Rows 1–{size:,}" if page.first else f"{size:,} rows"
    known = counts.known or counts.about or page.whole
    text = f"{place} of {certainty(counts, filter_, page)['text'].split(' job')[0]}" if known else place
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
    for token in _TOKEN.finditer(text):
        key, path, value = token.groups()
        if key == "config" and path:
            filter_ = _with(filter_, key, path + "=" + value.strip('"'))
        elif key in {*TEXTS, "state", "age", "id"} and not path:
            filter_ = _with(filter_, key, value.strip('"'))
        else:
            continue
        text = text.replace(token[0], "", 1)
    rest = " ".join(text.split())[:300]
    return (_with(filter_, "text", rest) if rest else filter_).url()


def _with(filter_: JobFilter, key: str, value: str) -> JobFilter:
    params = QueryDict(filter_.query(), mutable=True)
    params[key] = value
    return JobFilter.parse(params)
