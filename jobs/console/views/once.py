"""What makes something new is done once for one form, however often the form arrives."""

import secrets
from collections.abc import Callable

from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest

from jobs.console.queries.turns import take_turn

KEEP_SECONDS = 3600


def token() -> str:
    """For a fresh form."""
    return secrets.token_urlsafe(18)


def once(request: HttpRequest, what: str, form_token: str, make: Callable[[], str]) -> str:
    """Makes it, or answers with what the same form made before. A failure leaves the form usable.

    The note of what was made is committed together with it (the cache is a table of the same database), and a second
    request waits for the first one's commit.
    """
    if not form_token:
        return make()
    key = f"once:{what}:{request.user.pk}:{form_token[:64]}"
    with transaction.atomic():
        take_turn(key)
        made: str | None = cache.get(key)
        if made is None:
            made = make()
            cache.set(key, made, KEEP_SECONDS)
        return made
