"""The overview: held, draining, failing, tenants, counts, workers."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from jobs.console import charts, words
from jobs.console.queries.db import TooSlow
from jobs.console.queries.overview import TOP, Snapshot, TypeLine, shared
from jobs.console.views.render import show
from jobs.domain.states import WORDS


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """The answers of now. One reading serves every open overview of this process."""
    try:
        context = _context(shared.get())
    except TooSlow as error:
        context = {"too_slow": str(error)}
    return show(request, "console/overview.html", context)


def _context(now: Snapshot) -> dict[str, Any]:
    total = now.minutes
    entered = sum(line.entered for line in now.types)
    left = sum(line.left for line in now.types)
    return {
        "now": now,
        "server_now": now.at,
        "stopped": stopped(now),
        "drain": words.drain(now.queued, entered, left, now.oldest, now.at, stopped(now)),
        "chart": charts.flow(total),
        "summary": charts.summary(total),
        "types": top_types(now.types),
        "failing": words.failing(now.failing),
        "failing_rows": now.failing[:TOP],
        "tenant_verdict": tenants(now),
        "cells": cells(now),
        "slots_used": sum(line.running for line in now.workers),
        "slots": sum(line.slots for line in now.workers_live),
    }


def stopped(now: Snapshot) -> str:
    """What keeps every job from starting; empty when nothing does."""
    if any(line.pause.type is None and not line.pause.tenant_id and not line.pause.project_id for line in now.pauses):
        return "Everything is paused"
    return "" if now.workers_live else "No live worker"


def top_types(lines: list[TypeLine]) -> list[TypeLine]:
    """The types with most waiting; the rest as one line."""
    if len(lines) <= TOP:
        return lines
    rest = lines[TOP - 1 :]
    other = TypeLine(f"{len(rest)} other types")
    other.queued, other.entered = sum(line.queued for line in rest), sum(line.entered for line in rest)
    other.left = sum(line.left for line in rest)
    other.oldest = min((line.oldest for line in rest if line.oldest), default=None)
    return [*lines[: TOP - 1], other]


def tenants(now: Snapshot) -> words.Verdict:
    """Who waits."""
    if not now.queued:
        return words.Verdict("Nobody waits")
    full = [line for line in now.tenants if line.cap is not None and line.queued and line.running >= line.cap]
    text = f"{words.plural(now.tenants_active, 'tenant')} waiting or running"
    return words.Verdict(text, more=f"{len(full)} at the cap" if full else "")


def cells(now: Snapshot) -> list[dict[str, Any]]:
    """The eight states, and any that another program invented."""
    hour = {"DONE": sum(minute.done for minute in now.minutes)}
    notes = {
        "RUNNING": f"{now.silent:,} silent" if now.silent else f"of {sum(w.slots for w in now.workers_live):,} slots",
        "RETRY_WAIT": f"{now.due:,} due within 1 h" if now.due else "none due",
        "DONE": f"{hour['DONE']:,} in the last hour",
        "FAILED": "waiting for the sweep",
        "DEAD_LETTERED": "in the DLQ",
    }
    states = [*WORDS, *sorted(set(now.states) - set(WORDS))]
    return [{"state": one, "n": now.count(one), "note": notes.get(one, "")} for one in states]
