"""The moving parts of every page's frame."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def nav(request: HttpRequest) -> HttpResponse:
    """The navigation with its numbers."""
    return render(request, "console/partials/_nav.html")


@require_safe
def pause_line(request: HttpRequest) -> HttpResponse:
    """The line that says what is held."""
    return render(request, "console/partials/_pause_line.html")
