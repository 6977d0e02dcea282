"""Failures: causes, and failure type × job type × tenant over a chosen time; every number leads to its rows."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.console import scope, words
from jobs.console.links import failures_url, runs_url
from jobs.console.paging import Page, decode
from jobs.console.queries import failures as read
from jobs.console.queries.db import TooSlow, database_now
from jobs.console.queries.failures import FailureFilter, Line, Table
from jobs.console.queries.groups import SPANS, GroupLine
from jobs.console.views.render import show
from jobs.domain.groups import OPEN, WORDS, GroupState
from jobs.templatetags.formats import capped_text

MOST_GROUPS = 100  # when asked for more
OPEN_KEY = "open"


@require_safe
def failures(request: HttpRequest) -> HttpResponse:
    """What failed in the chosen time."""
    filter_ = FailureFilter.parse(request.GET).but(group="", end="", since=None, until=None)
    state = request.GET.get("state", "")
    state = state if state == OPEN_KEY or state in set(GroupState) else ""
    context: dict[str, Any] = {
        "filter": filter_,
        "spans": [(one.words, _url(filter_.but(span=one), state), one is filter_.span) for one in SPANS.values()],
        "chips": _chips(filter_, lambda less: _url(less, state)),
        "region_url": request.get_full_path(),
    }
    try:
        context |= _tables(filter_, state, request.GET.get("causes") == "more")
    except TooSlow as error:
        context["too_slow"] = str(error)
    return show(request, "console/failures.html", context)


def _tables(filter_: FailureFilter, state: str, more: bool) -> dict[str, Any]:
    most = MOST_GROUPS if more else read.FEW_GROUPS
    states = sorted(OPEN) if state == OPEN_KEY else [state] if state else None
    found = read.tables(filter_, [str(one) for one in states] if states else None, most)
    pinned = filter_.pinned(found.at)
    return {
        "server_now": found.at,
        "groups": [(line, _runs(pinned, group=line.fingerprint), _runs(pinned, group=line.fingerprint, end="dead"))
                   for line in found.causes],
        "cut": len(found.causes) == most,
        "more_url": "" if more or len(found.causes) < most else failures_url(**filter_.params(), state=state, causes="more"),
        "states": _states(filter_, state, found.states),
        "verdict": verdict(filter_, found.types, found.causes),
        "types": table(found.types, pinned, "type", state),
        "tenants": table(found.tenants, pinned, "tenant", state),
    }  # fmt: skip


def verdict(filter_: FailureFilter, types: Table, lines: list[GroupLine]) -> words.Verdict:
    """What failed, in a sentence."""
    if not types.total.n and not types.total.dead:
        return words.Verdict(f"No run failed in {filter_.span.words}")
    counted = [(state, sum(line.state == state for line in lines)) for state in (GroupState.NEW, GroupState.REGRESSED)]
    tag = ", ".join(f"{n} {WORDS[state].lower()}" for state, n in counted if n)
    text = f"{words.plural(types.total.n, 'failed run')} in {filter_.span.words}"
    return words.Verdict(text, tag, f"{types.total.dead:,} dead-lettered" if types.total.dead else "")


def table(found: Table, pinned: FailureFilter, by: str, state: str) -> dict[str, Any]:
    """A table of counts, each cell with the address of its rows."""

    def cells(line: Line, within: FailureFilter) -> list[tuple[int, str]]:
        return [(line.kinds.get(kind, 0), _runs(within, failure=kind)) for kind in found.kinds]

    lines = []
    for line in found.lines:
        within = pinned.but(**{by: line.name}) if line.name else None
        narrower = pinned.but(since=None, until=None, **{by: line.name}) if line.name else None
        lines.append(
            {
                "name": line.name,
                "url": _url(narrower, state) if narrower else "",
                "cells": cells(line, within) if within else [(line.kinds.get(kind, 0), "") for kind in found.kinds],
                "n": (line.n, _runs(within) if within else ""),
                "dead": (line.dead, _runs(within, end="dead") if within else ""),
            }
        )
    total = {"cells": cells(found.total, pinned), "n": (found.total.n, _runs(pinned)),
             "dead": (found.total.dead, _runs(pinned, end="dead"))}  # fmt: skip
    heads = [(kind, _url(pinned.but(since=None, until=None, failure=kind), state)) for kind in found.kinds]
    return {"heads": heads, "lines": lines, "total": total, "more": found.more}


def _runs(filter_: FailureFilter, **changes: Any) -> str:
    return runs_url(**filter_.but(**changes).params())


def _url(filter_: FailureFilter, state: str = "") -> str:
    return failures_url(**filter_.params(), state=state)


def _states(filter_: FailureFilter, state: str, counted: dict[str, int]) -> list[dict[str, Any]]:
    """The tabs over the causes. Their counts are those of all causes of the time, so a narrower filter shows none."""
    tabs = [("", "All", sum(counted.values())), (OPEN_KEY, "Open", sum(counted.get(one, 0) for one in OPEN))]
    tabs += [(one.value, WORDS[one], counted.get(one.value, 0)) for one in GroupState]
    return [
        {
            "label": label,
            "n": None if filter_.narrowed or scope.limited() else n,
            "url": _url(filter_, key),
            "on": key == state,
        }
        for key, label, n in tabs
    ]


def _chips(filter_: FailureFilter, address: Callable[[FailureFilter], str]) -> list[dict[str, str]]:
    """What the page is narrowed to; each chip's address is the page without it."""
    parts = [
        ("type", filter_.type, filter_.but(type="")),
        ("failure type", "unclassified" if filter_.failure == "" else filter_.failure or "", filter_.but(failure=None)),
        ("tenant", filter_.tenant, filter_.but(tenant="")),
        ("group", filter_.group, filter_.but(group="")),
        ("ended", "dead-lettered" if filter_.end else "", filter_.but(end="")),
    ]
    return [{"label": label, "value": value, "url": address(less)} for label, value, less in parts if value]


@require_safe
def runs(request: HttpRequest) -> HttpResponse:
    """The failed runs that a number counted, newest first."""
    filter_ = FailureFilter.parse(request.GET)
    after, before = decode(request.GET.get("after", "")), decode(request.GET.get("before", ""))
    context: dict[str, Any] = {
        "filter": filter_,
        "chips": _chips(filter_, _runs),
        "back_url": _url(_back(filter_)),
    }
    try:
        now = database_now()
        pinned = filter_.pinned(now)
        page = read.runs(pinned, after, before)
        n = read.count_runs(pinned)
    except TooSlow as error:
        context["too_slow"] = str(error)
    else:
        total = "" if n is None else capped_text(n, read.MOST_COUNTED)
        context |= {
            "rows": page.rows,
            "pager": _pager(pinned, page, total),
            "server_now": now,
            "pinned": pinned,
            "count": f"{total} failed run{'' if n == 1 else 's'}" if total else "Failed runs",
        }
    return show(request, "console/failure_runs.html", context)


def _back(filter_: FailureFilter) -> FailureFilter:
    return filter_.but(group="", end="", since=None, until=None)


def _pager(filter_: FailureFilter, page: Page, total: str) -> dict[str, Any]:
    params = filter_.params()
    size = len(page.rows)
    place = f"Rows 1–{size:,}" if page.first else f"{size:,} rows"
    return {
        "text": (f"{place} of {total}" if total else place) if size else "No rows",
        "first_url": None if page.first else runs_url(**params),
        "newer_url": runs_url(**params, before=page.newer.encode()) if page.newer else None,
        "older_url": runs_url(**params, after=page.older.encode()) if page.older else None,
    }
