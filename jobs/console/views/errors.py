"""Pages for what went wrong."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form's token was missing or old."""
    return render(
        request, "403.html", {"reason": "This form was open for too long. Reload the page and try again."}, status=403
    )
