"""Where remote executors report. No session, no cookie: the signature says who speaks."""

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from jobs.domain.remote import CALLBACKS, MOST_BODY_BYTES
from jobs.operations.remote_callbacks import Callback, CallbackRefused
from jobs.operations.remote_callbacks import receive as take
from jobs.vault import Unreadable

HEADERS = ("Detiq-Timestamp", "Detiq-Nonce", "Detiq-Signature")


@csrf_exempt
@login_not_required
@require_POST
def receive(request: HttpRequest, run_id: str, event: str) -> JsonResponse:
    """One callback of one run: progress, checkpoint, log or end."""
    if event not in CALLBACKS:
        raise Http404
    given = {name.lower(): request.headers.get(name, "")[:2000] for name in HEADERS}
    # One byte more than is taken, whatever length the request names.
    body = request.read(MOST_BODY_BYTES[event] + 1)
    try:
        return JsonResponse(take(Callback(run_id, event, given, body)))
    except CallbackRefused as error:
        return JsonResponse({"ok": False, "error": error.code, "message": str(error)}, status=error.status)
    except Unreadable as error:
        return JsonResponse({"ok": False, "error": "misconfigured", "message": str(error)}, status=503)
