"""The steps that steer a bulk operation: hold it, go on, end it."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from jobs.console.forms import ReasonForm, ResumeForm, problem
from jobs.console.views.operations.line import STEPS, find, may, who_steers, whole_number
from jobs.console.views.render import action, done, person, show
from jobs.domain.bulk import STATE_WORDS, Options
from jobs.domain.errors import InvalidInput, OperationRefused
from jobs.domain.json_input import json_object
from jobs.operations import bulk

# What went as fast as it goes is proposed half of this once it was braked.
SLOWEST_FIRST = 240
_TITLES = {
    "pause": ("Pause", "Nothing more is touched until somebody goes on. The batch under way is finished."),
    "resume": ("Resume", "It goes on with the rows that are not decided yet."),
    "stop": ("Stop", "What is done stays done; the rest is left as it is. It cannot be gone on with."),
}


@require_safe
def dialog(request: HttpRequest, operation_id: int, step: str) -> HttpResponse:
    """Asks for the reason of a step."""
    if step not in STEPS:
        raise Http404
    return _form(request, find(operation_id), step, ReasonForm(), 200)


def _form(request: HttpRequest, found: dict[str, Any], step: str, form: ReasonForm, status: int) -> HttpResponse:
    if found["state"] not in STEPS[step][1]:
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
        "who": who_steers(found),
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
    number = whole_number(request.POST.get("id", ""))
    if not number:
        raise InvalidInput("id", "it is no number of an operation")
    found = find(number)
    if not may(request.user, found, step):
        raise PermissionDenied(f"Your role may not do this; {who_steers(found)} may. Nothing was changed.")
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
