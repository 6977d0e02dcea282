"""A new job."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from jobs.console import scope
from jobs.console.forms import EnqueueForm
from jobs.console.links import job_url
from jobs.console.permissions import can, who_may
from jobs.console.queries.overview import acted, shared
from jobs.console.views.once import once, token
from jobs.console.views.render import person
from jobs.domain.errors import InvalidInput
from jobs.operations import actions

KNOWN = (
    "CRAWL", "NATIVE_CRAWL", "DISCOVER", "CAPTURE_STEPS", "ARTIFACT_INTEL", "GENERATE_TESTS", "GENERATE_SCREEN_TESTS",
    "GENERATE_SCRIPT", "GENERATE_DATA", "GENERATE_TEST_PLAN", "IMPORT_TESTS", "RUN_TEST_SUITE", "VISUAL_REGRESSION",
    "BATCH_GENERATE_ALIGNED", "NEW_PAGES_PIPELINE",
)  # fmt: skip
_FIELDS = {"type": "type", "tenantId": "tenant", "projectId": "project", "name": "name", "priority": "priority"}


@require_http_methods(["GET", "HEAD", "POST"])
def enqueue(request: HttpRequest) -> HttpResponse:
    """The form, and what it makes. The same form sent twice makes one job."""
    if request.method != "POST":
        first = {name: request.GET.get(name, "")[:300] for name in ("type", "tenant", "project") if name in request.GET}
        return _form(request, EnqueueForm(initial={"token": token()} | first), 200)
    if not can(request.user, "enqueue"):
        raise PermissionDenied(f"Your role may not do this; {who_may('enqueue')} may. Nothing was changed.")
    form = EnqueueForm(request.POST)
    if not form.is_valid():
        return _form(request, form, 422)
    if not scope.sees(form.cleaned_data["tenant"]):
        form.add_error("tenant", "It is none of the tenants of this account.")
        return _form(request, form, 422)
    try:
        made = once(request, "enqueue", form.cleaned_data["token"], lambda: _make(request, form))
    except InvalidInput as error:
        form.add_error(_FIELDS.get(error.field, "config"), error.message)
        return _form(request, form, 422)
    acted()
    messages.success(request, f"Queued as {made}.")
    return HttpResponseRedirect(job_url(made))


def _make(request: HttpRequest, form: EnqueueForm) -> str:
    data = form.cleaned_data
    return actions.enqueue(
        person(request),
        type=data["type"],
        tenant_id=data["tenant"],
        project_id=data["project"] or None,
        config=data["config"],
        name=data["name"],
        priority=data["priority"],
        reason=data["reason"],
    )


def _form(request: HttpRequest, form: EnqueueForm, status: int) -> HttpResponse:
    handled = shared.get().handled
    context = {
        "form": form,
        "types": sorted({*KNOWN, *handled}),
        "handled": sorted(handled),
        "allowed": can(request.user, "enqueue"),
        "who": who_may("enqueue"),
    }
    return render(request, "console/enqueue.html", context, status=status)
