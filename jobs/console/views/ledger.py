"""The document ledger: what waits and what is stuck, a document's own story, retry and purge."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from jobs.conf import conf
from jobs.console.accounts import confirmed
from jobs.console.commands import command
from jobs.console.forms import ReasonForm, problem
from jobs.console.paging import Page, decode, storable
from jobs.console.permissions import can, offered, who_may
from jobs.console.queries import ledger as read
from jobs.console.queries.db import database_now, limited
from jobs.console.queries.ledger import STATES, STUCK, LedgerFilter
from jobs.console.views.render import action, done, person, show
from jobs.console.words import plural
from jobs.domain.errors import InvalidInput
from jobs.ledger.contradictions import KINDS
from jobs.operations import ledger as operations
from jobs.operations import ledger_repair
from jobs.operations.ledger import MOST_AT_ONCE, Chosen, EventNotFound
from jobs.rows import Row

VERBS = {
    "retry": ("Retry", "They wait again, with all their attempts.", "back in line"),
    "purge": ("Purge", "They are deleted, and their hooks never run. The audit trail keeps what they were.", "purged"),
}


SHOWN_OF_A_REPAIR = 12


@require_safe
def ledger(request: HttpRequest) -> HttpResponse:
    """Counts by hook, and the events in one state under the address's filter."""
    filter_ = LedgerFilter.parse(request.GET)
    most = conf().ledger_max_attempts
    with limited():
        counts = read.counts(most)
        page = read.events(filter_, most, *_cursors(request))
        now = database_now()
    totals = {state: sum(row[state] for row in counts) for state in STATES}
    context = {
        "filter": filter_,
        "tabs": [
            (label, totals[state], filter_.but(state=state).url(), state == filter_.state)
            for state, label in STATES.items()
        ],
        "hooks": [_hook(row) for row in counts],
        "totals": totals,
        "chips": [
            {"label": name, "value": value, "url": filter_.but(**{name: ""}).url()}
            for name, value in filter_.texts.items()
        ],
        "rows": [_with_words(row) for row in page.rows],
        "stuck": filter_.state in STUCK,
        "contradictions": offered(request.user, "ledger_contradictions"),
        "acts": [(verb, words[0], _dialog_url(verb, filter_)) for verb, words in VERBS.items()],
        "pager": _pager(page, filter_.url, "events"),
        "most": read.MOST,
        "server_now": now,
        "region_url": request.get_full_path(),
    }
    return show(request, "console/ledger.html", context | _rights(request))


def _cursors(request: HttpRequest) -> tuple[Any, Any]:
    return decode(request.GET.get("after", "")), decode(request.GET.get("before", ""))


def _hook(row: Row) -> dict[str, Any]:
    hook = row["hook_type"]
    return {
        "name": hook,
        "cells": [(row[state], LedgerFilter(state=state, hook=hook).url()) for state in STATES],
    }


def _with_words(row: Row) -> Row:
    exhausted = row["status"] == "pending" and row["attempts"] >= conf().ledger_max_attempts
    state = "exhausted" if exhausted else row["status"]
    query = {"company": row["company_id"], "document": row["document_id"]}
    return row | {
        "state": state,
        "word": STATES.get(state, row["status"]),
        "stuck": state in STUCK,
        "document_url": "/ledger/document/?" + urlencode(query),
        "acts": [(verb, words[0], f"/ledger/act/?{urlencode({'verb': verb, 'id': row['id']})}")
                 for verb, words in VERBS.items()],
    }  # fmt: skip


def _dialog_url(verb: str, filter_: LedgerFilter) -> str:
    return filter_.url("/ledger/act/", verb=verb)


def _pager(page: Page, url: Any, noun: str) -> dict[str, Any]:
    return {
        "text": f"{len(page.rows):,} {noun}" if page.rows else f"No {noun}",
        "first_url": None if page.first else url(),
        "newer_url": url(before=page.newer.encode()) if page.newer else None,
        "older_url": url(after=page.older.encode()) if page.older else None,
    }


def _rights(request: HttpRequest) -> dict[str, Any]:
    return {
        "may": {verb: can(request.user, f"ledger_{verb}") for verb in VERBS},
        "who": {verb: who_may(f"ledger_{verb}") for verb in VERBS},
    }


@require_safe
def document(request: HttpRequest) -> HttpResponse:
    """One document's story: all its events, and the jobs they made."""
    names = {name: request.GET.get(name, "") for name in ("company", "document")}
    if not all(text and len(text) <= 2_000 and storable(text) for text in names.values()):
        raise Http404
    if not can(request.user, "read", names["company"]):
        raise Http404
    with limited():
        page = read.story(names["company"], names["document"], *_cursors(request))
        now = database_now()

    def url(**more: str) -> str:
        return "/ledger/document/?" + urlencode(names | more)

    context = names | {
        "rows": [_with_words(row) for row in page.rows],
        "pager": _pager(page, url, "events"),
        "company_url": LedgerFilter(company=names["company"][:300]).url(),
        "server_now": now,
        "region_url": request.get_full_path(),
    }
    return show(request, "console/ledger_document.html", context | _rights(request))


@require_safe
def contradictions(request: HttpRequest) -> HttpResponse:
    """Events and jobs that contradict each other, explained."""
    with limited(10):
        kinds = read.contradictions()
        now = database_now()
    for kind in kinds:
        kind["rows"] = [_with_words(row | {"status": ""}) for row in kind["rows"]]
    context = {
        "kinds": [kind for kind in kinds if kind["n"]],
        "may_repair": can(request.user, "ledger_repair"),
        "who_repairs": who_may("ledger_repair"),
        "server_now": now,
    }
    return show(request, "console/ledger_contradictions.html", context)


# --- Repair -----------------------------------------------------------------------------------------------------------


@require_safe
def repair_dialog(request: HttpRequest) -> HttpResponse:
    """What a repair of one kind would do, row by row, and the field for the reason."""
    kind = request.GET.get("kind", "")
    if kind not in KINDS:
        raise Http404
    return _repair_form(request, kind, ReasonForm(), 200)


def _repair_form(request: HttpRequest, kind: str, form: ReasonForm, status: int) -> HttpResponse:
    with limited(10):
        rows, total = ledger_repair.plan(kind)
        now = database_now()
    steps = Counter(row["step"] for row in rows)
    context = {
        "kind": KINDS[kind],
        "steps": [(words, steps[step]) for step, words in ledger_repair.STEPS.items() if steps[step]],
        "rows": [_with_words(row) | {"does": ledger_repair.STEPS[row["step"]]} for row in rows[:SHOWN_OF_A_REPAIR]],
        "n": len(rows),
        "more": total > len(rows),
        "seen": request.POST.get("seen") or now.isoformat(),
        "problem": problem(form, "reason"),
        "reason": form.data.get("reason", ""),
        "command": command("ledger", "repair", kind, "--yes"),
        "allowed": can(request.user, "ledger_repair"),
        "who_may": who_may("ledger_repair"),
        "server_now": now,
    }
    return show(request, "console/ledger_repair.html", context, part="dialog", status=status)


@action("ledger_repair")
def repair(request: HttpRequest) -> HttpResponse:
    """Repairs one kind: what has not changed since the preview."""
    form, kind = ReasonForm(request.POST), request.POST.get("kind", "")
    if kind not in KINDS:
        raise Http404
    if not form.is_valid():
        return _repair_form(request, kind, form, 422)
    seen = _seen(request.POST.get("seen", ""))
    repaired = ledger_repair.repair(person(request), kind, form.cleaned_data["reason"], seen=seen)
    words = [f"{n:,} × {ledger_repair.STEPS[step]}" for step, n in repaired.done.items()]
    words += [f"{len(repaired.left):,} left as they were"] if repaired.left else []
    return done(
        request, f"{', '.join(words) or 'Nothing was left to repair'}.", reverse("console:ledger_contradictions")
    )


# --- Acting -----------------------------------------------------------------------------------------------------------


@require_safe
def dialog(request: HttpRequest) -> HttpResponseBase:
    """What will happen to how many events, and the field for the reason."""
    verb = request.GET.get("verb", "")
    if verb not in VERBS:
        raise Http404
    return _guarded(verb)(request)


def _first_form(verb: str, request: HttpRequest) -> HttpResponse:
    return _form(request, verb, request.GET, ReasonForm(), 200)


def _guarded(verb: str) -> Callable[[HttpRequest], HttpResponseBase]:
    """Whoever purges says once more who they are, before the form and before the deed: nothing brings it back."""
    view = partial(_first_form, verb)
    return confirmed(view) if verb == "purge" else view


def _form(request: HttpRequest, verb: str, query: Any, form: ReasonForm, status: int) -> HttpResponse:
    filter_, event_id = LedgerFilter.parse(query), query.get("id", "")
    with limited():
        event = _find(request, event_id) if event_id else None
        n = 1 if event else read.count(filter_, conf().ledger_max_attempts, MOST_AT_ONCE + 1)
        now = database_now()
    context = {
        "verb": verb,
        "words": VERBS[verb],
        "event": event,
        "filter": filter_,
        "n": min(n, MOST_AT_ONCE),
        "more": n > MOST_AT_ONCE,
        "seen": query.get("seen") or now.isoformat(),
        "back_url": filter_.url(),
        "problem": problem(form, "reason"),
        "reason": form.data.get("reason", ""),
        "allowed": can(request.user, f"ledger_{verb}"),
        "who_may": who_may(f"ledger_{verb}"),
        "server_now": now,
    }
    return show(request, "console/ledger_act.html", context, part="dialog", status=status)


def _find(request: HttpRequest, event_id: str) -> Row:
    """The event. One of a company that the user may not see is not there."""
    row = read.find(event_id) if storable(event_id) else None
    if row is None or not can(request.user, "read", row["company_id"]):
        raise EventNotFound(event_id)
    return _with_words(row)


@action("ledger_retry")
def retry(request: HttpRequest) -> HttpResponse:
    """Failed and exhausted events wait again."""
    return _act(request, "retry")


@action("ledger_purge")
@confirmed
def purge(request: HttpRequest) -> HttpResponse:
    """Failed and exhausted events go for good."""
    return _act(request, "purge")


def _act(request: HttpRequest, verb: str) -> HttpResponse:
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _form(request, verb, request.POST, form, 422)
    reason, event_id = form.cleaned_data["reason"], request.POST.get("id", "")
    filter_ = LedgerFilter.strict(request.POST)
    if event_id:
        with limited():
            company = _find(request, event_id)["company_id"]
    else:
        company = filter_.company or None
    if not can(request.user, f"ledger_{verb}", company):
        raise PermissionDenied(f"Your role may not do this; {who_may(f'ledger_{verb}')} may. Nothing was changed.")
    if event_id:
        one = operations.retry if verb == "retry" else operations.purge
        one(person(request), event_id, reason)
        return done(request, f"Event {event_id[:80]}: {VERBS[verb][2]}.", filter_.url())
    if request.POST.get("state") not in STUCK:
        raise Http404
    texts = {name: filter_.texts.get(short) for short, name in read.FIELDS.items()}
    many = operations.retry_chosen if verb == "retry" else operations.purge_chosen
    n = many(person(request), Chosen(filter_.state, **texts), reason, seen=_seen(request.POST.get("seen", "")))
    return done(request, f"{plural(n, 'event')} {VERBS[verb][2]}.", filter_.url())


def _seen(text: str) -> datetime | None:
    """When the set was shown; None: nobody says."""
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        raise InvalidInput("seen", "it is no date and time") from None
