"""What holds for every answer: errors become pages in one place, headers are complete, times have a zone."""

from collections.abc import Callable
from typing import Any, cast
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import structlog
from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.csp import build_policy

from jobs.console import scope
from jobs.console.accounts import must_enrol
from jobs.console.permissions import can, offered
from jobs.console.views.errors import answer, page

ZONE_COOKIE = "detiq_zone"
NOT_OFFERED = "This page is about all tenants, and this account is limited to some."


class GuardMiddleware:
    """Wraps every request to the console."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with timezone.override(viewers_zone(request)), scope.request():
            response = self.get_response(request)
        return complete(response)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Refusals and an absent database are answers, not faults."""
        return answer(request, exception)


class SignedInMiddleware(LoginRequiredMiddleware):
    """Every view asks for a login and a role, unless it is marked `login_not_required`."""

    def process_view(self, request: Any, view_func: Any, view_args: Any, view_kwargs: Any) -> HttpResponseBase | None:
        """Sends strangers to the login, and refuses those who have no role."""
        refused = super().process_view(request, view_func, view_args, view_kwargs)
        if refused is not None or not getattr(view_func, "login_required", True):
            return refused
        if not can(request.user, "read"):
            return page(request, 403, "This account has no role yet. An admin can give it one.")
        structlog.contextvars.bind_contextvars(user_id=request.user.pk)
        scope.bind(scope.of(request.user))
        match = request.resolver_match
        if match.app_name == "console" and not offered(request.user, match.url_name):
            return page(request, 403, NOT_OFFERED)
        if match.app_name == "console" and must_enrol(request.user):
            return self._to_enrolment(request)
        return None

    def _to_enrolment(self, request: HttpRequest) -> HttpResponse:
        """The pages of the account itself stay open, so that the second factor can be added."""
        if request.headers.get("HX-Request") != "true":
            return HttpResponseRedirect(reverse("mfa_index"))
        response = HttpResponse("Add a second factor first.", status=403, content_type="text/plain")
        response["HX-Redirect"] = reverse("mfa_index")
        return response

    def handle_no_permission(self, request: Any, view_func: Any) -> Any:
        """A script gets a plain 401 and where to go; a page gets the redirect."""
        if request.headers.get("HX-Request") == "true" or request.path.startswith("/live/"):
            response = HttpResponse("Your session has ended. Sign in again.", status=401, content_type="text/plain")
            if request.headers.get("X-Live") != "1":
                response["HX-Redirect"] = reverse("account_login")
            return response
        if request.method not in {"GET", "HEAD"}:
            return redirect_to_login()
        return super().handle_no_permission(request, view_func)


def redirect_to_login() -> HttpResponse:
    """To the login, and from there to the overview: a POST cannot be taken up again."""
    response = HttpResponse(status=302)
    response["Location"] = reverse("account_login")
    return response


def viewers_zone(request: HttpRequest) -> Any:
    """The zone in the viewer's cookie; UTC when there is none or it is no zone."""
    name = unquote(request.COOKIES.get(ZONE_COOKIE, ""))
    if not name or len(name) > 64:
        return timezone.get_default_timezone()
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return timezone.get_default_timezone()


def complete(response: HttpResponseBase) -> HttpResponseBase:
    """Adds what an answer lacks when it never reached the inner middleware: an error page is no exception."""
    response.setdefault("X-Frame-Options", settings.X_FRAME_OPTIONS)
    if "Content-Security-Policy" not in response:
        response["Content-Security-Policy"] = build_policy(cast("dict[str, list[str]]", settings.SECURE_CSP))
    response.setdefault("Cache-Control", "no-store")
    if not getattr(response, "streaming", False):
        patch_vary_headers(response, ["HX-Request"])
    return response
