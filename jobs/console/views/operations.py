"""Bulk operations: the list, one of them with the outcome of every row, and the steps that steer it."""

import json
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from jobs.console import scope
from jobs.console.bulk import Ask, preview_url
from jobs.console.export import Csv
from jobs.console.forms import ReasonForm, ResumeForm, problem
from jobs.console.permissions import can, who_may
from jobs.console.queries import operations as read
from jobs.console.queries.db import TooSlow, apart, database_now, limited
from jobs.console.views.render import action, done, person, show
from jobs.console.words import first_line
from jobs.domain.bulk import HELD, MOVING, OPEN, SPECS, STATE_WORDS, Kind, Options
from jobs.domain.errors import InvalidInput, JobsError, OperationNotFound, OperationRefused
from jobs.domain.json_input import json_object
from jobs.domain.states import DEAD_LETTERED
from jobs.operations import bulk, exports
from jobs.queue.operations import LEASE_SECONDS
from jobs.rows import Row

log = structlog.get_logger("jobs.console")

TABS = (("", "All"), ("done", "Done"), ("skipped", "Skipped"), ("failed", "Failed"), ("open", "Not yet"))
# An operation whose worker says nothing for so long is shown as waiting for one.
SILENT = timedelta(seconds=3 * LEASE_SECONDS)
EXPORT_ROWS = 2_000
# What went as fast as it goes is proposed half of this once it was braked.
SLOWEST_FIRST = 240
EXPORTED = ("position", "job_id", "tenant_id", "type", "state", "outcome", "reason", "detail", "at")


@require_safe
def operations(request: HttpRequest) -> HttpResponse:
    """Newest first, with how far each is."""
    before = _whole(request.GET.get("before", "")) or None
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


def _whole(text: str) -> int:
    """A number of an address; 0 for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0


def line(row: Row) -> dict[str, Any]:
    """A row with its words."""
    known = row["kind"] in set(Kind)
    decided = row["done"] + row["skipped"] + row["failed"]
    waits = row["state"] in MOVING and row["now"] - (row["heartbeat_at"] or row["created_at"]) > SILENT
    return row | {
        "verb": SPECS[Kind(row["kind"])].verb if known else row["kind"],
        "past": SPECS[Kind(row["kind"])].done if known else "done",
        "word": "Waiting for a worker" if waits else STATE_WORDS.get(row["state"], row["state"]),
        "urgent": row["state"] in HELD or waits,
        "open": row["state"] in OPEN,
        "decided": decided,
        "left": max(0, row["total"] - decided),
        "percent": 100 * decided // row["total"] if row["total"] else 100,
        "url": reverse("console:operation", args=[row["id"]]),
    }


@require_safe
def operation(request: HttpRequest, operation_id: int) -> HttpResponse:
    """One operation."""
    outcome, after = request.GET.get("outcome", ""), _whole(request.GET.get("after", ""))
    if outcome not in dict(TABS):
        outcome = ""
    found = _find(operation_id)
    with limited():
        rows = read.items(operation_id, outcome, after)
    context = _context(request, found) | _rows(found, rows, outcome, after)
    return show(request, "console/operation.html", context | {"region_url": request.get_full_path()})


def _find(operation_id: int) -> dict[str, Any]:
    with limited():
        row = read.find(operation_id) if operation_id < 2**63 else None
    if row is None:
        raise OperationNotFound(operation_id)
    return line(row)


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


_STEPS = {"pause": ("Pause…", MOVING), "resume": ("Resume…", HELD), "stop": ("Stop for good…", OPEN)}
# What the brake leaves to choose from, besides leaving it held.
SLOWER = "Go on, slower…"


def _fitting(state: str) -> list[str]:
    return [step for step in ("stop", "pause", "resume") if state in _STEPS[step][1]]


def _step(request: HttpRequest, found: dict[str, Any], step: str) -> dict[str, Any]:
    return {
        "name": step,
        "words": SLOWER if step == "resume" and found["state"] == "BRAKED" else _STEPS[step][0],
        "url": reverse("console:operation_dialog", args=[found["id"], step]),
        "allowed": may(request.user, found, step),
        "who": _who(found),
    }


def may(user: Any, found: dict[str, Any], step: str) -> bool:
    """Whoever may begin work of a kind may steer it, if all that it touches is theirs to see."""
    return found["whole"] and can(user, f"{step}_operation") and can(user, f"bulk_{found['kind']}")


def _who(found: dict[str, Any]) -> str:
    """Who may steer it, in words."""
    who = who_may(f"bulk_{found['kind']}")
    return who if found["whole"] else f"{who} without a limit to some tenants"


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


# --- Steering ---------------------------------------------------------------------------------------------------------
_TITLES = {
    "pause": ("Pause", "Nothing more is touched until somebody goes on. The batch under way is finished."),
    "resume": ("Resume", "It goes on with the rows that are not decided yet."),
    "stop": ("Stop", "What is done stays done; the rest is left as it is. It cannot be gone on with."),
}


@require_safe
def dialog(request: HttpRequest, operation_id: int, step: str) -> HttpResponse:
    """Asks for the reason of a step."""
    if step not in _STEPS:
        raise Http404
    return _form(request, _find(operation_id), step, ReasonForm(), 200)


def _form(request: HttpRequest, found: dict[str, Any], step: str, form: ReasonForm, status: int) -> HttpResponse:
    if found["state"] not in _STEPS[step][1]:
        raise OperationRefused(step, found["id"], STATE_WORDS.get(found["state"], found["state"]))
    title, effect = _TITLES[step]
    options = Options.of(json_object(found["options"]))
    rate = _slower(found, options) if step == "resume" else None
    pace = [] if rate in (None, options.rate) else [f"--rate {rate}"]
    context = {
        "operation": found,
        "options": options,
        "rate": rate,
        "step": step,
        "title": title,
        "effect": effect,
        "action_url": reverse(f"console:{step}_operation"),
        "values": form.data,
        "problems": {name: problem(form, name) for name in form.errors},
        "allowed": may(request.user, found, step),
        "who": _who(found),
        "command": " ".join(["manage.py operation", step, str(found["id"]), *pace, "--reason '…'"]),
        "server_now": found["now"],
    }
    return show(request, "console/operation_step.html", context, part="dialog", status=status)


def _slower(found: dict[str, Any], options: Options) -> int | None:
    """The rate that is proposed: after the brake, half of what it was."""
    if found["state"] != "BRAKED":
        return options.rate
    return max(1, (options.rate or SLOWEST_FIRST) // 2)


def _steer(
    request: HttpRequest, step: str, form: ReasonForm, act: Callable[[int, dict[str, Any]], None], said: str
) -> HttpResponse:
    number = _whole(request.POST.get("id", ""))
    if not number:
        raise InvalidInput("id", "it is no number of an operation")
    found = _find(number)
    if not may(request.user, found, step):
        raise PermissionDenied(f"Your role may not do this; {_who(found)} may. Nothing was changed.")
    if not form.is_valid():
        return _form(request, found, step, form, 422)
    act(number, form.cleaned_data)
    return done(request, f"Operation {number}: {said}", found["url"])


@action("pause_operation")
def pause(request: HttpRequest) -> HttpResponse:
    """Holds an operation."""

    def act(number: int, data: dict[str, Any]) -> None:
        bulk.pause(person(request), number, data["reason"])

    return _steer(request, "pause", ReasonForm(request.POST), act, "paused.")


@action("resume_operation")
def resume(request: HttpRequest) -> HttpResponse:
    """Goes on with an operation."""

    def act(number: int, data: dict[str, Any]) -> None:
        bulk.resume(person(request), number, data["reason"], rate=data["rate"])

    return _steer(request, "resume", ResumeForm(request.POST), act, "goes on.")


@action("stop_operation")
def stop(request: HttpRequest) -> HttpResponse:
    """Ends an operation."""

    def act(number: int, data: dict[str, Any]) -> None:
        bulk.stop(person(request), number, data["reason"])

    return _steer(request, "stop", ReasonForm(request.POST), act, "stopped.")


# --- As a file --------------------------------------------------------------------------------------------------------
@action("export")
def export(request: HttpRequest, operation_id: int) -> HttpResponse | StreamingHttpResponse:
    """The outcome of every row as CSV, streamed."""
    found = _find(operation_id)
    within = scope.current()
    exports.begun(person(request), {"operation": found["id"]} | ({"within": sorted(within)} if within else {}), "csv")
    response = StreamingHttpResponse(_stream(found["id"], within), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="operation-{found["id"]}.csv"'
    response["X-Accel-Buffering"] = "no"
    return response


async def _stream(operation_id: int, within: scope.Scope) -> AsyncIterator[bytes]:
    writer, after = Csv(), 0
    yield writer.head(EXPORTED)
    while rows := await apart(_batch, operation_id, after, within):
        yield writer.rows(EXPORTED, [[row[name] for name in EXPORTED] for row in rows], first=not after)
        after = rows[-1]["position"]


def _batch(operation_id: int, after: int, within: scope.Scope) -> list[Row]:
    with limited(10):
        return read.export_rows(operation_id, after, EXPORT_ROWS, within)
