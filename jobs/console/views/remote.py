"""Job types that other services run: which, where, with which secret. For admins."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_safe

from jobs.conf import conf
from jobs.console.accounts import confirmed
from jobs.console.commands import command
from jobs.console.forms import ReasonForm, TextField, problem, reason_of
from jobs.console.paging import storable
from jobs.console.permissions import can, who_may
from jobs.console.queries import remote as read
from jobs.console.queries.db import database_now, limited
from jobs.console.views.once import once, token
from jobs.console.views.render import action, person, show
from jobs.domain.errors import InvalidInput
from jobs.handlers.remote import executors_guard
from jobs.operations import remote as operations
from jobs.operations.remote import BOUNDS, RemoteTypeNotFound
from jobs.rows import Row

FIELDS = {
    "first_answer_seconds": ("First answer", "seconds until the service must have taken the run"),
    "silence_seconds": ("Silence", "seconds without a word after which the run has failed"),
    "longest_run_seconds": ("Longest run", "seconds after which the run is stopped"),
}
FIRST = {
    "first_answer_seconds": operations.FIRST_ANSWER_SECONDS,
    "silence_seconds": operations.SILENCE_SECONDS,
    "longest_run_seconds": operations.LONGEST_RUN_SECONDS,
}


class RemoteForm(ReasonForm):
    """A type, where it runs, and how long what may take."""

    type = TextField(max_length=operations.LONGEST_TYPE, error_messages={"required": "Write the job type."})
    url = TextField(max_length=operations.LONGEST_URL, error_messages={"required": "Write the service's address."})

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, (least, most) in BOUNDS.items():
            words = f"Write seconds, from {least:,} to {most:,}."
            self.fields[name] = forms.IntegerField(
                min_value=least,
                max_value=most,
                error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), words),
            )


class RotateForm(ReasonForm):
    """For how long the secret before still counts."""

    overlap = forms.FloatField(min_value=0, max_value=operations.LONGEST_OVERLAP_HOURS)


def _admins_only(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Where work is sent is shown to those alone who may change it."""

    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not can(request.user, "set_remote"):
            raise PermissionDenied(f"Remote types are managed by {who_may('set_remote')}.")
        return view(request, *args, **kwargs)

    return require_safe(guarded)


@_admins_only
def remote(request: HttpRequest) -> HttpResponse:
    """Every mapping, and what goes on there."""
    with limited():
        rows, now = read.page(), database_now()
    context = {"rows": rows, "server_now": now, "public_url": conf().public_url}
    return show(request, "console/remote.html", context)


@_admins_only
@confirmed
def edit(request: HttpRequest) -> HttpResponse:
    """The form of a mapping, or of a new one."""
    row = _find(request.GET["type"]) if "type" in request.GET else None
    return _form(request, RemoteForm(initial=row or FIRST), row, 200)


def _find(name: str) -> Row:
    row = read.find(name) if storable(name) else None
    if row is None:
        raise RemoteTypeNotFound(name if storable(name) else "")
    return row


def _form(request: HttpRequest, form: RemoteForm, row: Row | None, status: int) -> HttpResponse:
    values = form.data if form.is_bound else form.initial
    problems = {name: problem(form, name) for name in form.errors}
    seconds = [
        {"name": name, "label": label, "hint": hint, "value": values.get(name, ""), "problem": problems.get(name),
         "least": BOUNDS[name][0], "most": BOUNDS[name][1]}
        for name, (label, hint) in FIELDS.items()
    ]  # fmt: skip
    name = row["type"] if row else "TYPE"
    context = {
        "row": row,
        "seconds": seconds,
        "token": values.get("token") or token(),
        "values": {name: values.get(name, "") for name in ("type", "url", "reason")},
        "problems": problems,
        "overlap": f"{operations.OVERLAP_HOURS:g}",
        "most_overlap": f"{operations.LONGEST_OVERLAP_HOURS:g}",
        "command": command("remote", "set", name, fields={"--url": "url"}, values={"url": values.get("url", "")}),
    }
    return render(request, "console/remote_type.html", context, status=status)


@action("set_remote")
@confirmed
@sensitive_variables("secret")
def change(request: HttpRequest) -> HttpResponse:
    """A new mapping, whose answer holds the secret, once; or the change of one."""
    form = RemoteForm(request.POST)
    row = read.find(request.POST["known"]) if storable(request.POST.get("known", "\0")) else None
    if not form.is_valid():
        return _form(request, form, row, 422)
    data = form.cleaned_data
    try:
        secret = _shown_once(
            request,
            "set_remote",
            lambda: operations.put(
                person(request),
                row["type"] if row else data["type"],
                url=data["url"],
                check_url=executors_guard().check_url,
                reason=data["reason"],
                **{name: data[name] for name in BOUNDS},
            ),
        )
    except InvalidInput as error:
        form.add_error(
            error.field if error.field in form.fields else None, f"{error.message[:1].upper()}{error.message[1:]}."
        )
        return _form(request, form, row, 422)
    return _secret(request, data["type"], secret) if secret else _back(request, f"{data['type']}: changed.")


@action("rotate_remote")
@confirmed
@sensitive_variables("secret")
def rotate(request: HttpRequest) -> HttpResponse:
    """A new secret; the answer holds it, once."""
    name, form = request.POST.get("type", ""), RotateForm(request.POST)
    if not form.is_valid():
        field = next(iter(form.errors))
        raise InvalidInput(field, problem(form, field))
    overlap, reason = form.cleaned_data["overlap"], form.cleaned_data["reason"]
    secret = _shown_once(
        request,
        "rotate_remote",
        lambda: operations.rotate(person(request), name, overlap_hours=overlap, reason=reason),
    )
    if not secret:
        return _back(request, f"{name}: this form has made its secret already; it was shown then, and cannot be again.")
    return _secret(request, name, secret, overlap)


@action("remove_remote")
@confirmed
def remove(request: HttpRequest) -> HttpResponse:
    """Takes a mapping away."""
    name = request.POST.get("type", "")
    operations.remove(person(request), name, reason=reason_of(request))
    return _back(request, f"{name}: no longer run by another service.")


@sensitive_variables()
def _shown_once(request: HttpRequest, what: str, make: Callable[[], str | None]) -> str | None:
    """Does it once for one form; whoever sends the form again gets no secret, since none is kept as it is."""
    secret = None

    def deed() -> str:
        nonlocal secret
        secret = make()
        return "done"

    once(request, what, request.POST.get("token", ""), deed)
    return secret


@sensitive_variables()
def _secret(request: HttpRequest, name: str, secret: str, overlap: float | None = None) -> HttpResponse:
    context = {"type": name, "secret": secret, "overlap": overlap}
    return render(request, "console/remote_secret.html", context)


def _back(request: HttpRequest, text: str) -> HttpResponse:
    messages.success(request, text)
    return HttpResponseRedirect(reverse("console:remote"))
