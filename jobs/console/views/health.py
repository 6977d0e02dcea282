"""For load balancers and Prometheus. Open to all; nothing here names a tenant."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from psycopg_pool import PoolTimeout

from jobs.console import metrics as figures
from jobs.console.queries import system
from jobs.console.queries.db import TooSlow


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return JsonResponse({"status": "ok"})


@login_not_required
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """The database answers and is migrated. 503 with the reason else, within two seconds."""
    try:
        state = system.readiness(settings.DATABASES["default"])
    except system.NotReady as error:
        return JsonResponse({"status": "not ready", "reason": str(error)}, status=503)
    return JsonResponse({"status": "ready", **state})


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures in Prometheus' text format."""
    try:
        text = figures.text()
    except (DatabaseError, InterfaceError, PoolTimeout, TooSlow) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else "no answer"
        return HttpResponse(f"# the database did not answer: {reason}\n", status=503, content_type="text/plain")
    return HttpResponse(text, content_type=CONTENT_TYPE_PLAIN_0_0_4)
