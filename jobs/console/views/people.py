"""The people of the console: who has which role, who may see which tenants. For admins."""

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

from jobs.console.accounts import confirmed, password_link
from jobs.console.forms import LONGEST_REASON, ReasonForm, TextField, problem, reason_of
from jobs.console.paging import storable
from jobs.console.permissions import can, who_may
from jobs.console.queries import people as read
from jobs.console.queries.db import database_now, limited
from jobs.console.views.render import action, person, show
from jobs.domain.errors import InvalidInput
from jobs.domain.roles import LIMITABLE, Role
from jobs.operations import people as operations
from jobs.operations.people import PersonNotFound
from jobs.rows import Row

MEANS = {
    Role.VIEWER: "reads",
    Role.OPERATOR: "enqueues, cancels, retries, pauses for a day at most",
    Role.SUPPORT: "acts on single jobs; may be limited to some tenants",
    Role.ADMIN: "all of it: people, purge, pauses without an end",
}
LONGEST_TENANTS = 70_000


class RightsForm(ReasonForm):
    """A role and the tenants that may be seen, one a line."""

    role = forms.ChoiceField(
        choices=[(str(role), str(role)) for role in Role], error_messages={"required": "Choose a role."}
    )
    tenants = forms.CharField(required=False, max_length=LONGEST_TENANTS)

    def clean_tenants(self) -> list[str]:
        """The lines that are not empty."""
        return [line.strip() for line in self.cleaned_data["tenants"].splitlines() if line.strip()]


class NewPersonForm(RightsForm):
    """A new user."""

    username = TextField(
        max_length=operations.LONGEST_NAME, error_messages={"required": "Write a name to sign in with."}
    )


class PersonForm(RightsForm):
    """A user as it shall be."""

    active = forms.BooleanField(required=False)
    seen = TextField(required=False, max_length=64)


def _admins_only(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A page that only those who manage people may see."""

    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not can(request.user, "people"):
            raise PermissionDenied(f"People are managed by {who_may('people')}.")
        return view(request, *args, **kwargs)

    return require_safe(guarded)


@_admins_only
def people(request: HttpRequest) -> HttpResponse:
    """Everybody who has an account."""
    with limited():
        rows, now = read.page(), database_now()
    context = {"rows": [row | {"role": _role(row)} for row in rows], "server_now": now, "most": read.MOST}
    return show(request, "console/people.html", context)


def _role(row: Row) -> str:
    held = {*row["groups"], *([str(Role.ADMIN)] if row["is_superuser"] else [])}
    return next((str(role) for role in reversed(Role) if role in held), "")


@_admins_only
@confirmed
def new(request: HttpRequest) -> HttpResponse:
    """The form of a new user."""
    return _form(request, NewPersonForm(), None, 200)


@_admins_only
@confirmed
def edit(request: HttpRequest) -> HttpResponse:
    """The form of a user: role, tenants, on or off; its sessions; a new link."""
    row = _find(request.GET.get("user", ""))
    first = {"role": _role(row), "tenants": "\n".join(row["tenants"]), "active": row["is_active"]}
    return _form(request, PersonForm(initial=first), row, 200)


def _find(username: str) -> Row:
    if not storable(username):
        raise PersonNotFound("")
    with limited():
        row = read.find(username[: operations.LONGEST_NAME])
    if row is None:
        raise PersonNotFound(username)
    return row


def _form(request: HttpRequest, form: RightsForm, row: Row | None, status: int) -> HttpResponse:
    values = form.data if form.is_bound else form.initial
    with limited():
        sessions = read.sessions(row["id"]) if row else []
    context = {
        "row": row,
        "seen": values.get("seen") or (_stamp(row) if row else ""),
        "sessions": sessions,
        "roles": [(str(role), MEANS[role], str(role) == values.get("role")) for role in Role],
        "limitable": " and ".join(str(role) for role in Role if role in LIMITABLE),
        "values": {name: values.get(name, "") for name in ("username", "tenants", "active", "reason")},
        "problems": {name: problem(form, name) for name in form.errors},
        "most_reason": LONGEST_REASON,
    }
    return render(request, "console/person.html", context, status=status)


def _stamp(row: Row) -> str:
    return operations.stamp(_role(row), row["is_active"], row["tenants"])


@action("create_person")
@confirmed
def create(request: HttpRequest) -> HttpResponse:
    """A new user; the answer holds the one-time link, once."""
    form = NewPersonForm(request.POST)
    if not form.is_valid():
        return _form(request, form, None, 422)
    data = form.cleaned_data
    try:
        user = operations.create(
            person(request),
            username=data["username"],
            role=data["role"],
            tenants=data["tenants"],
            reason=data["reason"],
        )
    except InvalidInput as error:
        form.add_error(error.field if error.field in form.fields else None, error.message)
        return _form(request, form, None, 422)
    return _link(request, user)


@action("change_person")
@confirmed
def change(request: HttpRequest) -> HttpResponse:
    """Role, tenants, on or off."""
    row = _find(request.POST.get("user", ""))
    form = PersonForm(request.POST)
    if not form.is_valid():
        return _form(request, form, row, 422)
    data = form.cleaned_data
    try:
        operations.change(
            person(request), row["username"], role=data["role"], tenants=data["tenants"], active=data["active"],
            reason=data["reason"], seen=data["seen"] or None,
        )  # fmt: skip
    except InvalidInput as error:
        form.add_error(error.field if error.field in form.fields else None, error.message)
        return _form(request, form, row, 422)
    return _back(request, f"{row['username']}: changed; every session of theirs has ended.")


@action("link_person")
@confirmed
def link(request: HttpRequest) -> HttpResponse:
    """A new one-time link in place of the password."""
    row, why = _find(request.POST.get("user", "")), reason_of(request)
    factors = request.POST.get("factors") == "on"
    user = operations.reset(person(request), row["username"], factors=factors, reason=why)
    return _link(request, user)


@sensitive_variables("context")
def _link(request: HttpRequest, user: Any) -> HttpResponse:
    context = {"username": user.get_username(), "link": password_link(request, user)}
    return render(request, "console/person_link.html", context)


@action("end_sessions")
@confirmed
def end_sessions(request: HttpRequest) -> HttpResponse:
    """Signs somebody out everywhere."""
    row, why = _find(request.POST.get("user", "")), reason_of(request)
    ended = operations.end_sessions(person(request), row["username"], reason=why)
    return _back(request, f"{row['username']}: {ended} sessions have ended.")


def _back(request: HttpRequest, text: str) -> HttpResponse:
    if request.user.is_authenticated:
        messages.success(request, text)
    return HttpResponseRedirect(reverse("console:people"))
