"""The stream of hints."""

from typing import Any

from django.contrib.auth import get_user
from django.contrib.auth.decorators import login_not_required
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse

from jobs.console.accounts import must_enrol
from jobs.console.live import MOST_CLIENTS, hub, stream
from jobs.console.permissions import can
from jobs.console.queries.db import apart


@login_not_required
async def live(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """Server-sent events: `changed` says only that something did. 401 for strangers, and the stream ends with the login."""
    if request.method != "GET":
        return HttpResponse(status=405, headers={"Allow": "GET"})
    key = request.session.session_key
    welcome = await apart(_welcome, key) if key else False
    if not welcome:
        return JsonResponse({"error": "Sign in first."}, status=401)
    if hub().size >= MOST_CLIENTS:
        return JsonResponse({"error": "Too many open streams; the page asks on its own."}, status=503)

    async def still_welcome() -> bool:
        return await apart(_welcome, key)

    response = StreamingHttpResponse(stream(still_welcome), content_type="text/event-stream")
    response["Cache-Control"] = "no-cache, no-store"
    response["X-Accel-Buffering"] = "no"
    return response


class _Request:
    """What `get_user` needs of a request."""

    def __init__(self, session: Any) -> None:
        self.session = session


def _welcome(session_key: str | None) -> bool:
    """Is this session still that of somebody who may read?"""
    user = get_user(_Request(SessionStore(session_key)))  # type: ignore[arg-type]
    return can(user, "read") and not must_enrol(user)
