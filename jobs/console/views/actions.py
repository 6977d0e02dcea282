"""What people do to one job: each verb a POST, with a dialog that asks for the reason and shows its command."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from jobs.console import words
from jobs.console.accounts import confirmed
from jobs.console.commands import job_command
from jobs.console.forms import ReasonForm, RevealForm, problem
from jobs.console.links import job_url, path_safe
from jobs.console.paging import storable
from jobs.console.permissions import can, who_may
from jobs.console.queries import job as read
from jobs.console.queries.db import database_now, limited
from jobs.console.queries.overview import acted
from jobs.console.queries.workers import silent_after
from jobs.console.verbs import VERBS, Done, Verb, command_word
from jobs.console.views.once import once, token
from jobs.console.views.render import action, done, person, show
from jobs.domain.errors import InvalidInput, JobNotFound, TransitionRefused
from jobs.domain.states import word
from jobs.operations import actions
from jobs.queue import trails
from jobs.rows import Row

UNDO = timedelta(seconds=30)
# What destroys: whoever does it says once more who they are, before the form and before the deed.
GRAVE = {"purge"}


@require_safe
def dialog(request: HttpRequest, verb: str) -> HttpResponseBase:
    """What will happen, and the field for the reason."""
    name = verb.replace("-", "_")
    if name == "reveal":
        return _reveal_form(
            request, _find(request, request.GET.get("id", ""), name), RevealForm(initial=request.GET.dict()), 200
        )
    if name not in VERBS:
        raise Http404
    return _guarded(name, partial(_first_form, name))(request)


def _first_form(name: str, request: HttpRequest) -> HttpResponseBase:
    return _form(request, name, _find(request, request.GET.get("id", ""), name), ReasonForm(), 200)


def _guarded(name: str, view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    return confirmed(view) if name in GRAVE else view


def _find(request: HttpRequest, job_id: str, verb: str) -> Row:
    """The job, or for a restore what the trash keeps of it. One of a tenant that the user may not see is not there."""
    if not storable(job_id):
        raise Http404
    with limited():
        row = read.trashed(job_id) if verb == "restore" else read.find(job_id)
    if row is None or not can(request.user, "read", row["tenant_id"]):
        raise JobNotFound(job_id[:200])
    return row


def _form(
    request: HttpRequest, name: str, row: Row, form: ReasonForm, status: int, problems: dict[str, str] | None = None
) -> HttpResponse:
    verb = VERBS[name]
    if row["state"] not in verb.states:
        raise TransitionRefused(verb.title.lower(), row["id"][:200], word(row["state"]))
    reason = form.data.get("reason", "")
    heard = _heard(row) if name == "force_cancel" else None
    sure = ["--sure"] if heard is not None else []
    first = {"checkpoint": "keep" if _resumes(row) else "drop"}
    values = {field: form.data.get(field, first.get(field, str(row.get(field, "")))) for field in verb.fields.values()}
    context = {
        "verb": verb,
        "name": name,
        "job": row,
        "title": words.title(row)[:120],
        "url": job_url(row["id"]),
        "effect": verb.effect(row),
        "action_url": reverse(f"console:{name}"),
        "problem": problem(form, "reason"),
        "problems": problems or {},
        "reason": reason,
        "values": values,
        "resumes": _resumes(row),
        "progress": words.clamp(row.get("progress")),
        "heard": heard,
        "token": form.data.get("token") or token(),
        "allowed": can(request.user, name, row["tenant_id"]),
        "who": who_may(name),
        "server_now": row["now"],
        "command": job_command(command_word(name), row["id"], *sure, fields=verb.fields, values=values, reason=reason),
    }
    return show(request, "console/action.html", context, part="dialog", status=status)


def _resumes(row: Row) -> bool:
    """Can it go on from its checkpoint?"""
    return bool(row["has_checkpoint"]) and not row.get("outdated")


def _heard(row: Row) -> float | None:
    """How long ago its worker was heard of, in seconds; None: it seems to be gone."""
    return trails.heard([row["id"]], silent_after()).get(row["id"])


def _act(name: str, request: HttpRequest) -> HttpResponse:
    verb, row = VERBS[name], _find(request, request.POST.get("id", ""), name)
    if not can(request.user, name, row["tenant_id"]):
        raise PermissionDenied(f"Your role may not do this; {who_may(name)} may. Nothing was changed.")
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _form(request, name, row, form, 422)
    if request.POST.get("seen", row["stamp"]) != row["stamp"]:
        changed = f"The job has changed since you opened this: it is {word(row['state'])} now. Nothing was done yet."
        return _form(request, name, row, form, 422, {"seen": changed})
    try:
        said = _do(verb, name, request, row, form.cleaned_data["reason"])
    except InvalidInput as error:
        return _form(
            request, name, row, form, 422, {error.field: f"{error.message[:1].upper()}{error.message[1:500]}."}
        )
    acted()
    return _answer(request, name, row, said)


def _do(verb: Verb, name: str, request: HttpRequest, row: Row, reason: str) -> Done:
    known = (*verb.fields.values(), *verb.also)
    fields = {field: request.POST.get(field, "") for field in known if field in request.POST}
    if not verb.once:
        return verb.act(person(request), row, reason, fields)
    made = once(
        request, name, request.POST.get("token", ""), lambda: verb.act(person(request), row, reason, fields).job_id
    )
    return Done(f"queued again as {made}.", made)


def _answer(request: HttpRequest, name: str, row: Row, said: Done) -> HttpResponse:
    text, undo = f"{words.title(row)[:120]}: {said.text}", {}
    if name == "purge" and path_safe(row["id"]):
        until = database_now() + UNDO
        undo = {"undo_url": reverse("console:undo_purge", args=[row["id"]]), "undo_until": until.isoformat()}
    return done(request, text, job_url(said.job_id), **undo)


ACTS: dict[str, Any] = {name: action(name)(_guarded(name, partial(_act, name))) for name in VERBS}


@action("restore")
def undo_purge(request: HttpRequest, job_id: str) -> HttpResponse:
    """The toast's Undo: at once, without a dialog."""
    row = _find(request, job_id, "restore")
    if not can(request.user, "restore", row["tenant_id"]):
        raise PermissionDenied(f"Your role may not do this; {who_may('restore')} may. Nothing was changed.")
    said = VERBS["restore"].act(person(request), row, "purge undone", {})
    acted()
    return done(request, f"{words.title(row)[:120]}: {said.text}", job_url(job_id))


def _reveal_form(request: HttpRequest, row: Row, form: RevealForm, status: int) -> HttpResponse:
    name = (form.data if form.is_bound else form.initial).get("value", "")
    if name not in read.VALUES:
        raise Http404
    reason = form.data.get("reason", "")
    context = {
        "job": row,
        "name": name,
        "title": words.title(row)[:120],
        "url": job_url(row["id"]),
        "problem": problem(form, "reason"),
        "reason": reason,
        "allowed": can(request.user, "reveal", row["tenant_id"]),
        "who": who_may("reveal"),
        "command": job_command("show", row["id"], fields={"--reveal": "value"}, values={"value": name}, reason=reason),
    }
    return show(request, "console/reveal.html", context, part="dialog", status=status)


@action("reveal")
def reveal(request: HttpRequest) -> HttpResponse:
    """A value with its secrets, once, for a reason; the page goes on masking them."""
    row = _find(request, request.POST.get("id", ""), "reveal")
    if not can(request.user, "reveal", row["tenant_id"]):
        raise PermissionDenied(f"Your role may not do this; {who_may('reveal')} may. Nothing was shown.")
    form = RevealForm(request.POST)
    if not form.is_valid():
        return _reveal_form(request, row, form, 422)
    name = form.cleaned_data["value"]
    actions.reveal(person(request), row["id"], name, form.cleaned_data["reason"])
    with limited():
        value = read.values(row["id"], masked=False)[name]
    context = {"job": row, "name": name, "title": words.title(row)[:120], "url": job_url(row["id"]), "value": value}
    response = show(request, "console/revealed.html", context, part="dialog")
    response["Cache-Control"] = "no-store"
    return response
