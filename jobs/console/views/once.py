"""What makes something new is done once for one form, however often the form arrives."""

import secrets
import time
from collections.abc import Callable

from django.core.cache import cache
from django.http import HttpRequest

KEEP_SECONDS = 3600
_WAIT_SECONDS = 3.0
_UNDER_WAY = ""


def token() -> str:
    """For a fresh form."""
    return secrets.token_urlsafe(18)


def once(request: HttpRequest, what: str, form_token: str, make: Callable[[], str]) -> str:
    """Makes it, or answers with what the same form made before. A failure leaves the form usable."""
    if not form_token:
        return make()
    key = f"once:{what}:{request.user.pk}:{form_token[:64]}"
    if not cache.add(key, _UNDER_WAY, KEEP_SECONDS):
        return _wait(key) or make()
    try:
        made = make()
    except BaseException:
        cache.delete(key)
        raise
    cache.set(key, made, KEEP_SECONDS)
    return made


def _wait(key: str) -> str:
    """What the other request made; it may still be at work. Empty when it failed."""
    until = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < until:
        made = cache.get(key)
        if made is None or made != _UNDER_WAY:
            return made or ""
        time.sleep(0.05)
    return ""
