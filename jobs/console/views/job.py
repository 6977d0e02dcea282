"""One job's page."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from jobs.console import scope, why, words
from jobs.console.life import life
from jobs.console.links import group_url, job_url
from jobs.console.paging import storable
from jobs.console.permissions import can, who_may
from jobs.console.queries import job as read
from jobs.console.queries.db import TooSlow, limited
from jobs.console.queries.workers import silent_after
from jobs.console.verbs import VERBS
from jobs.console.views.render import show, wants_part
from jobs.domain.states import JobStatus
from jobs.queue import pauses, waiting
from jobs.rows import Row
from jobs.templatetags.formats import duration_text


@require_safe
def job_by_id(request: HttpRequest) -> HttpResponse:
    """A job whose id cannot stand in a path."""
    return job(request, request.GET.get("id", ""))


@require_safe
def job(request: HttpRequest, job_id: str) -> HttpResponse:
    """All about one job. The polled part leaves out values that the page already shows."""
    if not storable(job_id):
        raise Http404
    with limited():
        row = read.find(job_id)
        if row is None:
            return missing(request, job_id)
        timeline = read.timeline(job_id)
        lines = read.log_lines(job_id)
        copies = read.copies(job_id)
        fresh = not wants_part(request) or request.GET.get("have") != row["version"]
        values = read.values(job_id) if fresh else None
    return show(request, "console/job.html", context(request, row, timeline) | {
        "values": values, "lines": lines, "copies": copies,
    })  # fmt: skip


def missing(request: HttpRequest, job_id: str) -> HttpResponse:
    """No such job; if it was purged, when and by whom."""
    trash = read.in_trash(job_id)
    rights = {"may_restore": can(request.user, "restore"), "who_restores": who_may("restore")}
    return show(request, "console/job_missing.html", {"job_id": job_id, "trash": trash} | rights, status=404)


def context(request: HttpRequest, row: Row, timeline: read.Timeline) -> dict[str, Any]:
    """What the page says besides the stored values."""
    url = job_url(row["id"])
    live = row["state"] in {JobStatus.RUNNING, JobStatus.CANCEL_REQUESTED}
    return {
        "job": row,
        "server_now": row["now"],
        "title": words.title(row),
        "url": url,
        "part_url": f"{url}{'&' if '?' in url else '?'}have={row['version']}",
        "next": what_next(row),
        "attempt": words.attempt(row),
        "changes": timeline.changes[: read.SHOWN_CHANGES],
        "more_changes": timeline.changes[read.SHOWN_CHANGES :],
        "changes_total": timeline.total,
        "changes_left": timeline.total - len(timeline.changes),
        "attempts": timeline.attempts,
        "redrives": timeline.redrives,
        "group_url": group_url(row["fingerprint"]) if row["fingerprint"] else "",
        "live": live,
        "progress": words.clamp(row["progress"]),
        "buttons": buttons(request, row),
        "value_names": read.VALUES,
        **(held(row) if row["state"] == JobStatus.QUEUED else {}),
        "life": life(row, read.worker(row["worker_id"]) if row["worker_id"] else None) if live else None,
    }


def held(row: Row) -> dict[str, Any]:
    """Why a queued job isn't running: a sentence, then gate by gate."""
    in_force = scope.pauses(pauses.active())
    one = waiting.explain([row["id"]]).get(row["id"])
    doing = why.sentence(row, one, in_force)
    if one is None:
        return {"doing": doing, "answer": why.begins(None, doing)}
    silent = {}
    if one.tenant_full or one.type_full:
        silent = read.silent_holders(row["tenant_id"], row["type"], silent_after().total_seconds())
    return {
        "doing": doing,
        "answer": why.begins(one, doing),
        "others": why.others(row, one, in_force),
        "verdict": why.verdict(one),
        "gates": why.lines(row, one, in_force, _ahead(row["id"]), silent, over_all=not scope.limited()),
        "gates_at": one.at,
    }


def _ahead(job_id: str) -> waiting.Ahead | None:
    """What is before it; None, shown as unknown, if that takes too long to count."""
    if scope.limited():
        return None
    try:
        with limited(0.5):
            return waiting.ahead(job_id)
    except TooSlow:
        return None


def buttons(request: HttpRequest, row: Row) -> list[dict[str, Any]]:
    """The actions that the state allows; without the right they say who has it."""
    return [
        {
            "verb": verb.replace("_", "-"),
            "label": one.button,
            "allowed": can(request.user, verb, row["tenant_id"]),
            "who": who_may(verb),
        }
        for verb, one in VERBS.items()
        if row["state"] in one.states and (verb != "force_cancel" or can(request.user, verb) or not row["inline"])
    ]


def what_next(row: Row) -> str:
    """What happens next, in words."""
    match row["state"]:
        case JobStatus.QUEUED:
            return "It starts when its turn has come and nothing holds it."
        case JobStatus.RUNNING:
            return "It runs to its end; a worker lost is noticed by the missing heartbeat."
        case JobStatus.CANCEL_REQUESTED:
            return "Its worker stops it at the next heartbeat; then it is Cancelled."
        case JobStatus.RETRY_WAIT:
            wait = (row["next_retry_at"] - row["now"]).total_seconds() if row["next_retry_at"] else 0
            return f"It goes back to the queue in {duration_text(wait)}." if wait > 0 else "The sweep requeues it now."
        case JobStatus.FAILED:
            return "The sweep moves it to the DLQ or tries it again."
        case "DEAD_LETTERED":
            return "Nothing, until somebody retries it."
        case JobStatus.DONE | JobStatus.CANCELLED:
            return "Nothing; it has ended."
    return "Unknown: another program wrote this status, and no worker here touches it."


@require_safe
def raw(request: HttpRequest, value: str) -> HttpResponse:
    """A value as it is stored, to download."""
    job_id = request.GET.get("id", "")
    if not storable(job_id):
        raise Http404
    with limited(10):
        text = read.raw(job_id, value)
    if text is None:
        raise Http404
    kind = "text/plain" if value == "error" else "application/json"
    response = HttpResponse(text, content_type=f"{kind}; charset=utf-8")
    name = f"{''.join(c if c.isalnum() or c in '-_.' else '_' for c in job_id[:60])}-{value}"
    header = content_disposition_header(True, name + (".txt" if value == "error" else ".json"))
    response["Content-Disposition"] = header or "attachment"
    return response
