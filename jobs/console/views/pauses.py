"""Pauses: what holds the queue, since when and why; holding and lifting."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from jobs.console import words
from jobs.console.forms import ENDS, PauseForm, ReasonForm, problem
from jobs.console.paging import storable
from jobs.console.permissions import can, who_may
from jobs.console.queries import counts
from jobs.console.queries import pauses as read
from jobs.console.queries.db import TooSlow, limited
from jobs.console.queries.overview import PauseLine, shared
from jobs.console.views.enqueue import KNOWN
from jobs.console.views.render import action, done, person, show
from jobs.models.pause import scope_words
from jobs.operations import actions
from jobs.queue.pauses import PauseNotFound


@require_safe
def pauses(request: HttpRequest) -> HttpResponse:
    """What is in force, and what was."""
    snapshot = shared.get()
    with limited():
        ended = read.ended()
    context = {"lines": snapshot.pauses, "ended": ended, "server_now": snapshot.at}
    return show(request, "console/pauses.html", context | _rights(request))


def _rights(request: HttpRequest) -> dict[str, Any]:
    return {
        "may_pause": can(request.user, "pause"),
        "who_pauses": who_may("pause"),
        "may_resume": can(request.user, "resume"),
        "who_resumes": who_may("resume"),
    }


@require_safe
def new(request: HttpRequest) -> HttpResponse:
    """The form of a new pause."""
    first = {name: request.GET.get(name, "")[:300] for name in ("type", "tenant", "project")}
    return _form(request, PauseForm(initial=first), 200)


def _form(request: HttpRequest, form: PauseForm, status: int) -> HttpResponse:
    values = form.data if form.is_bound else form.initial
    long = can(request.user, "pause_long")
    context = {
        "form": form,
        "types": KNOWN,
        "values": {name: values.get(name, "") for name in ("type", "tenant", "project", "reason", "everything")},
        "ends": [
            (key, text, key == (values.get("ends") if form.is_bound else "3600")) for key, text in form_ends(long)
        ],
        "problems": {name: problem(form, name) for name in form.errors},
        "problem_all": problem(form, "__all__"),
        "effect": _effect(values),
        "may_long": long,
        "who_long": who_may("pause_long"),
    }
    return show(request, "console/pause_new.html", context | _rights(request), part="dialog", status=status)


@require_safe
def effect(request: HttpRequest) -> HttpResponse:
    """What a pause of the scope typed so far would hold."""
    values = {name: request.GET.get(name, "")[:300] for name in ("type", "tenant", "project", "everything")}
    return render(request, "console/partials/_pause_effect.html", {"effect": _effect(values)})


def form_ends(long: bool) -> list[tuple[str, str]]:
    """The ends to choose from; one without end is for admins."""
    return [(key, text) for key, text in ENDS if long or key]


def _effect(values: Any) -> str:
    type_, tenant = values.get("type") or None, values.get("tenant") or None
    if not storable((type_ or "") + (tenant or "")):
        return ""
    if values.get("project"):
        return "What it holds is counted once it is in force."
    if not (type_ or tenant or values.get("everything")):
        return ""
    try:
        with limited():
            held = counts.queued_in(type_, tenant)
    except TooSlow:
        return "How many jobs it holds could not be counted in time."
    return f"Holds {words.plural(held, 'queued job')} now; running jobs finish."


@action("pause")
def pause(request: HttpRequest) -> HttpResponse:
    """Holds a scope."""
    form = PauseForm(request.POST)
    if not form.is_valid():
        return _form(request, form, 422)
    if form.needs_admin and not can(request.user, "pause_long"):
        raise PermissionDenied(
            f"A pause without an end within 24 h is for {who_may('pause_long')}. Nothing was changed."
        )
    data = form.cleaned_data
    scope = {name: data[field] or None for name, field in _SCOPE.items()}
    actions.pause(person(request), reason=data["reason"], ends_in_seconds=form.ends_in_seconds, **scope)
    shared.changed()
    named = scope_words(scope["type"], scope["tenant_id"], scope["project_id"])
    return done(request, f"{named} is paused; running jobs finish.", reverse("console:pauses"))


_SCOPE = {"type": "type", "tenant_id": "tenant", "project_id": "project"}


def _line(raw: str) -> PauseLine:
    """The pause in force with this id; an empty one means the flag of other programs."""
    wanted = int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 19 else None
    if raw and wanted is None:
        raise PauseNotFound("there is no such pause; nothing changed")
    for line in shared.get().pauses:
        if line.pause.id == wanted:
            return line
    raise PauseNotFound("this pause is no longer in force; nothing changed")


@require_safe
def lift(request: HttpRequest) -> HttpResponse:
    """The dialog that lifts one."""
    shared.changed()
    return _lift(request, _line(request.GET.get("id", "")), ReasonForm(), 200)


def _lift(request: HttpRequest, line: PauseLine, form: ReasonForm, status: int) -> HttpResponse:
    context = {
        "line": line,
        "problem": problem(form, "reason"),
        "reason": form.data.get("reason", ""),
        "server_now": shared.get().at,
    }
    return show(request, "console/lift.html", context | _rights(request), part="dialog", status=status)


@action("resume")
def resume(request: HttpRequest) -> HttpResponse:
    """Lifts one pause, or everything that pauses everything."""
    shared.changed()
    line = _line(request.POST.get("id", ""))
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _lift(request, line, form, 422)
    actions.resume(person(request), reason=form.cleaned_data["reason"], pause_id=line.pause.id)
    shared.changed()
    return done(request, f"{line.pause.scope}: the pause is lifted.", reverse("console:pauses"))
