"""Pauses: what holds the queue, since when and why; holding and lifting."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from jobs.console import ends, words
from jobs.console.commands import Word, command
from jobs.console.forms import ENDS, PauseForm, ReasonForm, problem
from jobs.console.links import job_url
from jobs.console.paging import storable
from jobs.console.permissions import can, who_may
from jobs.console.queries import pauses as read
from jobs.console.queries.db import TooSlow, database_now, limited
from jobs.console.queries.overview import PauseLine, acted, shared
from jobs.console.views.enqueue import KNOWN
from jobs.console.views.once import once, token
from jobs.console.views.render import action, done, person, show
from jobs.models.pause import scope_words
from jobs.operations import actions
from jobs.queue.others import other_workers
from jobs.queue.pauses import PauseInForce, PauseNotFound

FIELDS = ("type", "tenant", "project", "reason", "everything", "until", "until_offset")


@require_safe
def pauses(request: HttpRequest) -> HttpResponse:
    """What is in force, and what was."""
    snapshot = shared.get()
    with limited():
        ended = read.ended()
        started = read.started_after([line.pause for line in snapshot.pauses])
        others = other_workers() if snapshot.pauses else []
    for row in started:
        row |= {"url": job_url(row["id"]), "pause": snapshot.pauses[row["place"]].pause.scope}
    context = {
        "lines": snapshot.pauses,
        "ended": ended,
        "started": started,
        "others": others,
        "server_now": snapshot.at,
    }
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
    values = dict((form.data if form.is_bound else form.initial).items())
    long = can(request.user, "pause_long")
    context = {
        "form": form,
        "types": KNOWN,
        "values": {name: values.get(name, "") for name in FIELDS},
        "token": values.get("token") or token(),
        "until_problem": problem(form, "until"),
        "until_offsets": form.end.offsets,
        "ends": [
            (key, text, key == (values.get("ends") if form.is_bound else "3600")) for key, text in form_ends(long)
        ],
        "problems": {name: problem(form, name) for name in form.errors},
        "problem_all": problem(form, "__all__"),
        "may_long": long,
        "who_long": who_may("pause_long"),
        **_effect(values | {"ends": values.get("ends", "") if form.is_bound else "3600"}),
    }
    return show(request, "console/pause_new.html", context | _rights(request), part="dialog", status=status)


@require_safe
def effect(request: HttpRequest) -> HttpResponse:
    """What a pause of the scope typed so far would hold, and its command."""
    values = {name: request.GET.get(name, "")[:2_000] for name in (*FIELDS, "ends")}
    return render(request, "console/partials/_pause_effect.html", _effect(values))


def form_ends(long: bool) -> list[tuple[str, str]]:
    """The ends to choose from; one without end is for admins."""
    return [(key, text) for key, text in ENDS if long or key]


def _effect(values: Mapping[str, Any]) -> dict[str, Any]:
    """What it holds, what will not obey it, and the command that does it."""
    scope = {name: (values.get(name) or "").strip() for name in ("type", "tenant", "project")}
    if not storable("".join(str(one) for one in values.values())):
        return {}
    options = [f"--{name}={value}" for name, value in scope.items() if value]
    options += ends.option(values, database_now())
    context: dict[str, Any] = {"command": command("queue", "pause", *options, reason=values.get("reason") or "")}
    if not any(scope.values()) and not values.get("everything"):
        return {}
    context["others"] = [] if _is_flag(scope) else other_workers()
    try:
        with limited():
            found = read.scope(*(value or None for value in scope.values()))
    except TooSlow:
        return context | {"effect": "How many jobs it holds could not be counted in time."}
    return context | {"effect": _held(found), "more": _meanwhile(found)}


def _is_flag(scope: Mapping[str, str]) -> bool:
    """Everything is paused by the flag, which other programs obey too."""
    return not any(scope.values())


def _held(found: read.Scope) -> str:
    least = "at least " if found.cut else ""
    return f"Holds {least}{words.plural(min(found.queued, read.COUNTED) if found.cut else found.queued, 'queued job')} now."


def _meanwhile(found: read.Scope) -> str:
    runs = (
        f"{words.plural(found.running, 'running job')} will finish"
        if found.running
        else "running jobs finish; none runs"
    )
    waits = ""
    if found.retry_wait:
        waits = f" {words.plural(found.retry_wait, 'retry', 'retries')} in wait: what falls due meanwhile is held, too."
    return f"{runs[:1].upper()}{runs[1:]}.{waits}"


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
    who, seconds = person(request), form.ends_in_seconds
    once(
        request, "pause", request.POST.get("token", ""),
        lambda: str(actions.pause(who, reason=data["reason"], ends_in_seconds=seconds, **scope)),
    )  # fmt: skip
    acted()
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
    acted()
    return _lift(request, _line(request.GET.get("id", "")), ReasonForm(), 200)


def _still(line: PauseLine) -> list[PauseLine]:
    """The other pauses that hold something of the same scope: they stay."""
    return [other for other in shared.get().pauses if other is not line and _overlap(line.pause, other.pause)]


def _overlap(one: PauseInForce, other: PauseInForce) -> bool:
    pairs = ((one.type, other.type), (one.tenant_id, other.tenant_id), (one.project_id, other.project_id))
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


def _lift_command(pause: PauseInForce, reason: str) -> list[Word]:
    if pause.id is None:
        return command("queue", "resume", reason=reason)
    return command("queue", "resume", f"--id={pause.id}", reason=reason)


def _lift(request: HttpRequest, line: PauseLine, form: ReasonForm, status: int) -> HttpResponse:
    context = {
        "line": line,
        "still": _still(line),
        "command": _lift_command(line.pause, form.data.get("reason", "")),
        "problem": problem(form, "reason"),
        "reason": form.data.get("reason", ""),
        "server_now": shared.get().at,
    }
    return show(request, "console/lift.html", context | _rights(request), part="dialog", status=status)


@action("resume")
def resume(request: HttpRequest) -> HttpResponse:
    """Lifts one pause, or everything that pauses everything."""
    acted()
    line = _line(request.POST.get("id", ""))
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _lift(request, line, form, 422)
    actions.resume(person(request), reason=form.cleaned_data["reason"], pause_id=line.pause.id)
    still = _still(line)
    acted()
    return done(request, f"{line.pause.scope}: the pause is lifted.{_still_words(still)}", reverse("console:pauses"))


def _still_words(still: list[PauseLine]) -> str:
    if not still:
        return ""
    names = ", ".join(line.pause.scope[:80] for line in still[:3]) + (" …" if len(still) > 3 else "")
    return f" Still held by {words.plural(len(still), 'pause')}: {names}."
