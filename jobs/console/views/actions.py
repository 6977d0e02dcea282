"""What people do to one job: each verb a POST, with a dialog that asks for the reason."""

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from jobs.console import words
from jobs.console.forms import ReasonForm, problem
from jobs.console.links import job_url
from jobs.console.paging import storable
from jobs.console.permissions import can, who_may
from jobs.console.queries import job as read
from jobs.console.queries.db import Row, limited
from jobs.console.queries.overview import shared
from jobs.console.views.job import ACTIONS
from jobs.console.views.once import once, token
from jobs.console.views.render import action, done, person, show
from jobs.domain.errors import JobNotFound, TransitionRefused
from jobs.domain.states import JobStatus, word
from jobs.operations import actions
from jobs.queue.transitions import Moved


@dataclass(frozen=True)
class Verb:
    """The words of one action's dialog."""

    title: str
    effect: str
    command: str
    danger: bool = False


VERBS: dict[str, Verb] = {
    "cancel": Verb("Cancel", "", "Cancel the job"),
    "force_cancel": Verb(
        "Force cancel",
        "The job is Cancelled at once, without its worker's word. Whatever the worker still reports changes nothing.",
        "Force cancel",
        danger=True,
    ),
    "retry": Verb("Retry", "It leaves the DLQ and waits in the queue, with a fresh retry budget.", "Retry the job"),
    "rerun": Verb("Run again", "A new job with the same config is queued. This one stays as it is.", "Run again"),
    "run_now": Verb("Run now", "The wait before the retry ends. Caps and pauses still hold.", "Run now"),
}


@require_safe
def dialog(request: HttpRequest, verb: str) -> HttpResponse:
    """What will happen, and the field for the reason."""
    name = verb.replace("-", "_")
    if name not in VERBS:
        raise Http404
    job_id = request.GET.get("id", "")
    return _form(request, name, _find(job_id), ReasonForm(), 200)


def _find(job_id: str) -> Row:
    if not storable(job_id):
        raise Http404
    with limited():
        row = read.find(job_id)
    if row is None:
        raise JobNotFound(job_id[:200])
    return row


def _form(request: HttpRequest, name: str, row: Row, form: ReasonForm, status: int) -> HttpResponse:
    if row["state"] not in ACTIONS[name][1]:
        raise TransitionRefused(VERBS[name].title.lower(), row["id"][:200], word(row["state"]))
    context = {
        "verb": VERBS[name],
        "name": name,
        "job": row,
        "title": words.title(row)[:120],
        "url": job_url(row["id"]),
        "effect": VERBS[name].effect or _cancel_effect(row),
        "action_url": reverse(f"console:{name}"),
        "form": form,
        "problem": problem(form, "reason"),
        "reason": form.data.get("reason", ""),
        "token": form.data.get("token") or token(),
        "allowed": can(request.user, name, row["tenant_id"]),
        "who": who_may(name),
        "server_now": row["now"],
    }
    return show(request, "console/action.html", context, part="dialog", status=status)


def _cancel_effect(row: Row) -> str:
    if row["state"] == JobStatus.RUNNING:
        return "Its worker is asked to stop, and stops at its next check. The checkpoint is kept."
    return "It ends at once: no worker has it."


def _act(request: HttpRequest, name: str) -> tuple[Row, ReasonForm, HttpResponse | None]:
    row = _find(request.POST.get("id", ""))
    form = ReasonForm(request.POST)
    refused = None if form.is_valid() else _form(request, name, row, form, 422)
    return row, form, refused


def _finish(request: HttpRequest, name: str, row: Row, moved: list[Moved], text: str) -> HttpResponse:
    answer = moved[0]
    if not answer.changed:
        raise answer.refusal(VERBS[name].title.lower())
    shared.changed()
    return done(request, f"{words.title(row)[:120]}: {text}", job_url(row["id"]))


@action("cancel")
def cancel(request: HttpRequest) -> HttpResponse:
    """Ends a waiting job, asks a running one to stop."""
    row, form, refused = _act(request, "cancel")
    if refused:
        return refused
    moved = actions.cancel(person(request), [row["id"]], form.cleaned_data["reason"])
    asked = moved[0].now == JobStatus.CANCEL_REQUESTED
    return _finish(request, "cancel", row, moved, "asked to stop." if asked else "cancelled.")


@action("force_cancel")
def force_cancel(request: HttpRequest) -> HttpResponse:
    """Ends a run without its worker."""
    row, form, refused = _act(request, "force_cancel")
    if refused:
        return refused
    moved = actions.force_cancel(person(request), [row["id"]], form.cleaned_data["reason"])
    return _finish(request, "force_cancel", row, moved, "cancelled; its run is fenced off.")


@action("retry")
def retry(request: HttpRequest) -> HttpResponse:
    """Out of the DLQ, from the checkpoint or from the start."""
    row, form, refused = _act(request, "retry")
    if refused:
        return refused
    keep = request.POST.get("checkpoint", "keep") != "drop"
    moved = actions.retry(person(request), [row["id"]], form.cleaned_data["reason"], keep_checkpoint=keep)
    return _finish(request, "retry", row, moved, "back in the queue.")


@action("run_now")
def run_now(request: HttpRequest) -> HttpResponse:
    """Ends the wait before a retry."""
    row, form, refused = _act(request, "run_now")
    if refused:
        return refused
    moved = actions.run_now(person(request), [row["id"]], form.cleaned_data["reason"])
    return _finish(request, "run_now", row, moved, "back in the queue.")


@action("rerun")
def rerun(request: HttpRequest) -> HttpResponse:
    """A copy of an ended job; one form makes one copy."""
    row, form, refused = _act(request, "rerun")
    if refused:
        return refused
    reason = form.cleaned_data["reason"]
    made = once(
        request, "rerun", request.POST.get("token", ""), lambda: actions.rerun(person(request), row["id"], reason)
    )
    shared.changed()
    return done(request, f"Queued again as {made}.", job_url(made))
