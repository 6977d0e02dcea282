"""The overview: held, draining, failing, who suffers, counts. Quiet when all is well."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from jobs.console import charts, scope, verdicts
from jobs.console.queries import counts
from jobs.console.queries import tenants as tenants_read
from jobs.console.queries.db import TooSlow, database_now, limited
from jobs.console.queries.overview import TOP, Detail, Snapshot, TypeLine, detail, shared
from jobs.console.queries.overview import tenants as capacity
from jobs.console.views.render import show
from jobs.domain.alerts import RULES
from jobs.domain.states import WORDS

# The columns' widths, so that the charts' text is as large as the page's.
LEFT_COLUMN, RIGHT_COLUMN = 640, 524


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """The answers of now. One reading serves every open overview of this process."""
    if scope.limited():
        return show(request, "console/overview_of_some.html", _of_some())
    try:
        context = _context(shared.get())
    except TooSlow as error:
        context = {"too_slow": str(error)}
    else:
        try:
            context |= _detail(shared.get(), detail.get())
        except TooSlow as error:
            context["detail_too_slow"] = str(error)
    return show(request, "console/overview.html", context)


def _of_some() -> dict[str, Any]:
    """What somebody limited to some tenants sees: their states and tenants; the rest is known over all tenants alone."""
    try:
        with limited():
            states, now = counts.by_state(), database_now()
            rows = tenants_read.page("", capacity.running(shared.get().live), [], [])
    except TooSlow as error:
        return {"too_slow": str(error)}
    names = [*WORDS, *sorted(set(states) - set(WORDS))]
    return {
        "cells": [{"state": name, "n": states.get(name, 0)} for name in names],
        "tenants": rows,
        "total": rows[0]["tenants"] if rows else 0,
        "server_now": now,
    }


def _context(now: Snapshot) -> dict[str, Any]:
    return {
        "now": now,
        "server_now": now.at,
        "stopped": verdicts.stopped(now),
        "held": verdicts.held(now),
        "duties": [verdicts.duty(one, now.at) for one in now.overdue],
        "drain": verdicts.drain(now),
        "chart": charts.flow(now.minutes),
        "summary": charts.summary(now.minutes),
        "types": top_types(now.types),
        "cells": cells(now),
        "alerts": open_alerts(now),
        "slots_used": sum(line.running for line in now.workers),
        "slots": sum(line.slots for line in now.workers_live),
    }


def _detail(now: Snapshot, more: Detail) -> dict[str, Any]:
    return {
        "detail": more,
        "failing": verdicts.failing(more.failing, now.open_groups),
        "kinds": [(kind, verdicts.beside_usual(kind.n, kind.usual)) for kind in more.failing.kinds[:5]],
        "tenant_verdict": verdicts.tenants(now, more),
        **_drawn(more),
    }


def _drawn(more: Detail) -> dict[str, Any]:
    zone = timezone.get_current_timezone_name()
    if zone not in more.drawn:
        more.drawn[zone] = {
            "heat": charts.heat(more.failing.heat, more.failing.first_hour),
            "waits": charts.spread("Wait until a start", more.times.waits, LEFT_COLUMN),
            "runs": charts.spread("Run time", more.times.runs, RIGHT_COLUMN),
        }
    return more.drawn[zone]


def top_types(lines: list[TypeLine]) -> list[TypeLine]:
    """The types with most waiting; the rest as one line."""
    if len(lines) <= TOP:
        return lines
    rest = lines[TOP - 1 :]
    other = TypeLine(f"{len(rest)} other types", other=True)
    other.queued, other.entered = sum(line.queued for line in rest), sum(line.entered for line in rest)
    other.left = sum(line.left for line in rest)
    other.oldest = min((line.oldest for line in rest if line.oldest), default=None)
    return [*lines[: TOP - 1], other]


def open_alerts(now: Snapshot) -> dict[str, list[dict[str, Any]]]:
    """The first open alerts, by the question that they are about."""
    found: dict[str, list[dict[str, Any]]] = {"held": [], "failing": []}
    for row in now.alerts.top:
        rule = RULES.get(row["rule"])
        found[rule.about if rule else "held"].append(row)
    return found


def cells(now: Snapshot) -> list[dict[str, Any]]:
    """The eight states, and any that another program invented."""
    done = sum(minute.done for minute in now.minutes)
    notes = {
        "RUNNING": f"{now.silent:,} silent" if now.silent else f"of {sum(w.slots for w in now.workers_live):,} slots",
        "RETRY_WAIT": f"{now.due:,} due within 1 h" if now.due else "none due",
        "DONE": f"{done:,} in the last hour",
        "FAILED": "waiting for the sweep",
        "DEAD_LETTERED": "in the DLQ",
    }
    states = [*WORDS, *sorted(set(now.states) - set(WORDS))]
    return [{"state": one, "n": now.count(one), "note": notes.get(one, "")} for one in states]
