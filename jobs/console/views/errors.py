"""Pages for what went wrong: one place that knows which error has which status and words."""

import sys

import structlog
from django.contrib.auth.decorators import login_not_required
from django.db import DataError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from psycopg_pool import PoolTimeout

from jobs.console import scope
from jobs.console.queries import system
from jobs.console.queries.db import TooSlow
from jobs.domain.errors import (
    CapChanged,
    DuplicateJob,
    GroupChanged,
    GroupNotFound,
    InvalidInput,
    JobNotFound,
    JobsError,
    NothingToDo,
    OperationNotFound,
    OperationRefused,
    SetGrew,
    StillAlive,
    TransitionRefused,
)
from jobs.notifications.channels import ChannelChanged, ChannelNotFound
from jobs.notifications.rules import RuleChanged
from jobs.operations.alerts import AlertNotFound, AlertRefused, DeliveryRefused
from jobs.operations.artifacts import ArtifactHasNoFile, ArtifactNotFound
from jobs.operations.ledger import EventNotFound, EventRefused
from jobs.operations.people import LastAdmin, PersonChanged, PersonNotFound
from jobs.operations.remote import RemoteTypeNotFound
from jobs.queue.connections import ONLY_READ, only_reads
from jobs.queue.pauses import PauseNotFound

log = structlog.get_logger("jobs.console")

STATUS: dict[type[Exception], int] = {
    JobNotFound: 404,
    GroupNotFound: 404,
    GroupChanged: 409,
    TransitionRefused: 409,
    OperationNotFound: 404,
    OperationRefused: 409,
    NothingToDo: 409,
    SetGrew: 409,
    DuplicateJob: 409,
    PauseNotFound: 409,
    CapChanged: 409,
    StillAlive: 409,
    EventNotFound: 404,
    ArtifactNotFound: 404,
    ArtifactHasNoFile: 409,
    EventRefused: 409,
    AlertNotFound: 404,
    AlertRefused: 409,
    ChannelNotFound: 404,
    ChannelChanged: 409,
    RuleChanged: 409,
    DeliveryRefused: 409,
    PersonNotFound: 404,
    RemoteTypeNotFound: 404,
    LastAdmin: 409,
    PersonChanged: 409,
    InvalidInput: 422,
}
_TEMPLATES = {400: "400.html", 403: "403.html", 404: "404.html", 429: "429.html", 500: "500.html", 503: "503.html"}
_AWAY = (OperationalError, InterfaceError, PoolTimeout)


def answer(request: HttpRequest, error: BaseException) -> HttpResponse | None:
    """The answer to an error that we have words for; None for a fault of ours."""
    if isinstance(error, DuplicateJob) and scope.limited():  # the keys are of all tenants, and so is who holds one
        return page(request, 409, "Another active job holds its unique key. Nothing was changed.")
    if isinstance(error, JobsError):
        return page(request, status_of(error), sentence(str(error)))
    if isinstance(error, DataError):
        log.warning("console.value_refused", error=str(error)[:300], path=request.path[:300])
        return page(request, 400, "A value in the address or the form cannot be used; nothing was changed.")
    if isinstance(error, TooSlow):
        return page(request, 503, f"{sentence(str(error))} Narrow what you ask for, or try again.")
    if only_reads(error):
        log.warning("console.database_only_reads", path=request.path[:300])
        return page(request, 503, ONLY_READ)
    if isinstance(error, _AWAY):
        log.warning("console.database_away", error=str(error)[:300], path=request.path)
        return page(request, 503, "The database is unreachable or busy. The console tries again with every request.")
    return None


def status_of(error: JobsError) -> int:
    """The HTTP status of a refusal."""
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 400)


def sentence(text: str) -> str:
    """A message as a sentence."""
    return text[:1].upper() + text[1:2000] + ("" if text.endswith((".", "?")) else ".")


def page(request: HttpRequest, status: int, text: str) -> HttpResponse:
    """An error page, or for a script's request just the words."""
    if request.headers.get("HX-Request") == "true":
        return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")
    template = _TEMPLATES.get(status, "console/refused.html")
    context = {"reason": text, "exception": text, "status_code": status, "only_read": text == ONLY_READ}
    response = render(request, template, context, status=status)
    if status == 503:
        response["Retry-After"] = "5"
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form's token was missing or old."""
    return page(request, 403, "This form was open for too long. Reload the page and try again.")


@login_not_required
def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400."""
    return page(request, 400, "A value in the address or the form is not usable; nothing was changed.")


@login_not_required
def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403."""
    return page(
        request, 403, sentence(str(exception)) if exception and str(exception) else "Your role may not do this."
    )


@login_not_required
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404."""
    return page(request, 404, "There is nothing at this address.")


@login_not_required
def too_many(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """429, unless tries could not be counted because the database takes no change: then nobody tried too often."""
    if not system.writable():
        return page(request, 503, ONLY_READ)
    return page(request, 429, "Wait a few minutes, then try again.")


@login_not_required
def server_error(request: HttpRequest) -> HttpResponse:
    """500, unless it was the database that failed before any view was reached."""
    error = sys.exc_info()[1]
    known = answer(request, error) if error else None
    return known or page(
        request, 500, "The console made a mistake. It is in the log; nothing is known to have changed."
    )
