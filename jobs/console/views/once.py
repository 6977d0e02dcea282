"""What makes something new is done once for one form, however often the form arrives."""

import json
import secrets
from collections.abc import Callable
from hashlib import sha256

from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest

from jobs.console.queries.turns import take_turn

KEEP_SECONDS = 3600


def token() -> str:
    """For a fresh form."""
    return secrets.token_urlsafe(18)


def once(request: HttpRequest, what: str, form_token: str, make: Callable[[], str]) -> str:
    """Makes it, or answers with what the same form with the same words in it made before. A failure leaves it usable.

    The note of what was made is committed together with it (the cache is a table of the same database), and a second
    request waits for the first one's commit.
    """
    if not form_token:
        return make()
    key = f"once:{what}:{request.user.pk}:{form_token[:64]}:{_written(request)}"
    with transaction.atomic():
        take_turn(key)
        made: str | None = cache.get(key)
        if made is None:
            made = make()
            cache.set(key, made, KEEP_SECONDS)
        return made


def _written(request: HttpRequest) -> str:
    """What stands in the form: somebody who goes back to it and changes it means something else."""
    fields = [
        (name, values) for name, values in sorted(request.POST.lists()) if name not in {"csrfmiddlewaretoken", "token"}
    ]
    files = [(name, str(file), len(file)) for name, file in sorted(request.FILES.items())]
    return sha256(json.dumps([fields, files]).encode()).hexdigest()[:32]
