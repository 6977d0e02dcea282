"""The list of bulk operations, and one of them with the outcome of every row."""

import json
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_safe

from jobs.console.bulk import Ask, preview_url
from jobs.console.permissions import can
from jobs.console.queries import operations as read
from jobs.console.queries.db import TooSlow, database_now, limited
from jobs.console.views.operations.line import STEPS, find, line, may, who_steers, whole_number
from jobs.console.views.render import show
from jobs.console.words import first_line
from jobs.domain.bulk import MOVING, Kind, Options
from jobs.domain.errors import JobsError
from jobs.domain.json_input import json_object
from jobs.domain.states import DEAD_LETTERED
from jobs.operations import bulk
from jobs.rows import Row

TABS = (("", "All"), ("done", "Done"), ("skipped", "Skipped"), ("failed", "Failed"), ("open", "Not yet"))
# What the brake leaves to choose from, besides leaving it held.
SLOWER = "Go on, slower…"


@require_safe
def operations(request: HttpRequest) -> HttpResponse:
    """Newest first, with how far each is."""
    before = whole_number(request.GET.get("before", "")) or None
    with limited():
        rows = read.newest(before)
        now = database_now()
    shown = [line(row) for row in rows[: read.PAGE]]
    path = reverse("console:operations")
    context = {
        "lines": shown,
        "open": [one for one in shown if one["open"]],
        "first": before is None,
        "region_url": request.get_full_path(),
        "older_url": f"{path}?before={shown[-1]['id']}" if len(rows) > read.PAGE else None,
        "first_url": path if before else None,
        "server_now": now,
    }
    return show(request, "console/operations.html", context)


@require_safe
def operation(request: HttpRequest, operation_id: int) -> HttpResponse:
    """One operation."""
    outcome, after = request.GET.get("outcome", ""), whole_number(request.GET.get("after", ""))
    if outcome not in dict(TABS):
        outcome = ""
    found = find(operation_id)
    with limited():
        rows = read.items(operation_id, outcome, after)
    context = _context(request, found) | _rows(found, rows, outcome, after)
    return show(request, "console/operation.html", context | {"region_url": request.get_full_path()})


def _context(request: HttpRequest, found: dict[str, Any]) -> dict[str, Any]:
    options = Options.of(json_object(found["options"]))
    redrive = found["kind"] == Kind.RETRY
    pace = _pace(found, options) if redrive and found["state"] in MOVING else None
    return {
        "operation": found,
        "options": options,
        "parts": [("done", found["done"]), ("cancelled", found["skipped"]), ("failed", found["failed"]),
                  ("free", found["left"])],
        "filter_words": _filter_words(found),
        "set_url": _set_url(found),
        "reasons": _reasons(found["id"]),
        "fared": _fared(found["id"]) if redrive and found["done"] else None,
        "pace": pace,
        "good_ends": bulk.good_ends(options),
        "drift": _drift(found, options),
        "eta": eta(found, options),
        "steps": [_step(request, found, step) for step in _fitting(found["state"])],
        "again_url": _again(found),
        # Of a purge that still moves only a part would come back: it is held or stopped first.
        "undo_url": preview_url(Kind.RESTORE, f"operation={found['id']}")
        if found["in_trash"] and found["state"] not in MOVING
        else "",
        "can_export": can(request.user, "export"),
        "server_now": found["now"],
    }  # fmt: skip


def _asked(found: dict[str, Any]) -> Ask | None:
    """What it was asked for; None when a later or earlier release wrote it in other words."""
    query = QueryDict(mutable=True)
    for name, value in json_object(found["filter"]).items():
        if name == "within":  # whose jobs the person could see
            continue
        query.setlist(name, [str(one) for one in value] if isinstance(value, list) else [str(value)])
    try:
        return Ask.parse(Kind(found["kind"]), query)
    except (JobsError, ValueError):
        return None


def _filter_words(found: dict[str, Any]) -> str:
    if not found["whole"]:
        return read.UNSAID
    ask = _asked(found)
    if ask is None:
        return json.dumps(json_object(found["filter"]))[:300]
    return ", ".join(f"{label} {value}" for label, value in ask.words()) or "everything"


def _set_url(found: dict[str, Any]) -> str:
    ask = _asked(found) if found["whole"] else None
    return ask.filter.url() if ask and ask.operation is None and ask.kind is not Kind.RESTORE else ""


def _reasons(operation_id: int) -> list[Row]:
    try:
        with limited(0.5):
            return read.reasons(operation_id)
    except TooSlow:
        return []


def _fared(operation_id: int) -> dict[str, int] | None:
    try:
        with limited(0.5):
            looked, ended, failed = read.fared(operation_id)
    except TooSlow:
        return None
    return {"n": looked, "ended": ended, "failed": failed, "percent": 100 * failed // ended if ended else 0}


def _pace(found: dict[str, Any], options: Options) -> bulk.Pace | None:
    """How fast it may go at this moment; None when that says no more than its rate, or cannot be read in time."""
    if not (options.ramp or options.idle_percent) or not found["whole"]:
        return None
    try:
        with limited(0.5):
            return bulk.pace(found["id"], options)
    except TooSlow:
        return None


def _drift(found: dict[str, Any], options: Options) -> str:
    """What changed between the preview and the confirmation."""
    if options.shown is None or not found["whole"] or options.shown == found["total"]:
        return ""
    more = found["total"] - options.shown
    return f"{abs(more):,} {'joined' if more > 0 else 'left'} the set between the preview and the confirmation."


def eta(found: dict[str, Any], options: Options) -> datetime | None:
    """When it is done at the pace of the last minute, or at its rate; None when nothing can be said."""
    if found["state"] not in MOVING or not found["left"] or not found["whole"]:
        return None
    per_minute = min(found["lately"], options.rate or found["lately"])
    if not per_minute:
        return None
    end: datetime = found["now"] + timedelta(minutes=min(found["left"] / per_minute, 1e6))
    return end


def _fitting(state: str) -> list[str]:
    return [step for step in ("stop", "pause", "resume") if state in STEPS[step][1]]


def _step(request: HttpRequest, found: dict[str, Any], step: str) -> dict[str, Any]:
    return {
        "name": step,
        "words": SLOWER if step == "resume" and found["state"] == "BRAKED" else STEPS[step][0],
        "url": reverse("console:operation_dialog", args=[found["id"], step]),
        "allowed": may(request.user, found, step),
        "who": who_steers(found),
    }


def _again(found: dict[str, Any]) -> str:
    """For those that failed; of a redrive also those that failed again since."""
    if found["kind"] not in set(Kind):
        return ""
    if found["kind"] == Kind.RETRY and found["done"] and not found["open"]:
        return preview_url(Kind.RETRY, f"operation={found['id']}&outcome=again&boomerangs=1")
    if not found["failed"]:
        return ""
    return preview_url(Kind(found["kind"]), f"operation={found['id']}&outcome=failed")


def _rows(found: dict[str, Any], rows: list[Row], outcome: str, after: int) -> dict[str, Any]:
    numbers = {"": found["total"], "done": found["done"], "skipped": found["skipped"], "failed": found["failed"],
               "open": found["left"]}  # fmt: skip
    shown, more = [row | {"since": _since(row)} for row in rows[: read.PAGE]], len(rows) > read.PAGE

    def url(name: str, place: int = 0) -> str:
        parts = [f"outcome={name}"] * bool(name) + [f"after={place}"] * bool(place)
        return str(found["url"]) + ("?" + "&".join(parts) if parts else "")

    return {
        "rows": shown,
        "tabs": [{"name": name, "words": words, "n": numbers[name], "on": name == outcome, "url": url(name)}
                 for name, words in TABS],
        "pager": {
            "text": f"Rows {shown[0]['position']:,}–{shown[-1]['position']:,} of {found['total']:,}" if shown else "No rows",
            "first_url": url(outcome) if after else None,
            "newer_url": None,
            "older_url": url(outcome, shown[-1]["position"]) if more else None,
        },
    }  # fmt: skip


def _since(row: Row) -> str:
    """What came of a job that was put back in the queue, when it failed again."""
    failed = row["outcome"] == "done" and row["state"] == DEAD_LETTERED and row["status"] in {"FAILED", "RETRY_WAIT"}
    return f"failed again: {first_line(row['error']) or 'no error was kept'}" if failed else ""
