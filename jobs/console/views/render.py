"""One address, two answers: the whole page, or the part that a script asked for."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_POST

from jobs.console.permissions import can, who_may
from jobs.operations.actions import Person

# Proxies refuse headers that are too long; a toast says the rest by being cut.
LONGEST_TOAST = 400

type View = Callable[..., HttpResponseBase]


def wants_part(request: HttpRequest) -> bool:
    """Does a script ask for a part? History and boosted links get the whole page."""
    headers = request.headers
    return (
        headers.get("HX-Request") == "true"
        and headers.get("HX-History-Restore-Request") != "true"
        and headers.get("HX-Boosted") != "true"
    )


def show(
    request: HttpRequest, template: str, context: dict[str, Any], part: str = "part", status: int = 200
) -> HttpResponse:
    """The page `template`, or its partial `part` for a script."""
    return render(request, f"{template}#{part}" if wants_part(request) else template, context, status=status)


def action(name: str) -> Callable[[View], View]:
    """A POST that needs a right. The right is asked here, whatever the page showed."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not can(request.user, name):
                raise PermissionDenied(f"Your role may not do this; {who_may(name)} may. Nothing was changed.")
            return view(request, *args, **kwargs)

        return require_POST(guarded)

    return decorate


def person(request: HttpRequest) -> Person:
    """Who acts, for history and audit."""
    return Person(
        username=request.user.get_username(),
        address=request.META.get("REMOTE_ADDR"),
        user_agent=request.headers.get("User-Agent", "")[:300],
    )


def done(request: HttpRequest, text: str, url: str, **undo: str) -> HttpResponse:
    """An action was done: a toast for a script, else the page it concerns with the message on it.

    `undo_url` (posted to as it is) and `undo_until` (ISO 8601) give the toast an Undo.
    """
    if not wants_part(request):
        messages.success(request, text)
        return HttpResponseRedirect(url)
    response = HttpResponse(status=200)
    response["HX-Trigger"] = trigger(
        {"detiq:toast": {"text": cut(text)} | undo, "detiq:close": True, "detiq:refresh": True}
    )
    return response


def trigger(events: dict[str, Any]) -> str:
    """Events for the page as ASCII JSON: no text in it can break the header or name another event."""
    return json.dumps(events, ensure_ascii=True)


def cut(text: str) -> str:
    """Short enough for a header."""
    return text if len(text) <= LONGEST_TOAST else text[:LONGEST_TOAST] + "…"
