"""An HTTP client that connects only where the guard lets it. No proxy, no redirect followed on its own, no cookie
kept."""

import ssl
from collections.abc import Callable
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpcore2
import httpx2

from jobs.handlers.web.guard import Guard
from jobs.handlers.web.network import GuardedBackend, Patience

KEEPALIVE_SECONDS = 30.0


@cache
def _trusted() -> ssl.SSLContext:
    """The system's certificates, read once a process: reading them takes longer than most exchanges."""
    return ssl.create_default_context()


class GuardedTransport(httpx2.HTTPTransport):
    """httpx's transport over a pool whose connections the guard opened."""

    def __init__(self, guard: Guard, patience: Patience, ssl_context: ssl.SSLContext | None = None) -> None:
        # The base class would build a pool with its own connections; everything else of it is used.
        self._guard = guard
        self._patience = patience
        self._pool = httpcore2.ConnectionPool(
            ssl_context=ssl_context or _trusted(),
            max_connections=4,
            max_keepalive_connections=4,
            keepalive_expiry=KEEPALIVE_SECONDS,
            network_backend=GuardedBackend(guard, patience),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises `AddressNotAllowed`, what the patience's check raises, or `httpx2.TransportError`."""
        self._guard.check_url(str(request.url))
        self._patience.restart()
        return super().handle_request(request)


def guarded_client(
    guard: Guard,
    *,
    user_agent: str,
    total_seconds: float,
    check: Callable[[], None] = lambda: None,
    ssl_context: ssl.SSLContext | None = None,
) -> httpx2.Client:
    """A client for one thread. Each exchange, from the look-up of the name to the last byte read, ends after
    `total_seconds`; `check` is called several times a second meanwhile and stops it by raising."""
    return httpx2.Client(
        transport=GuardedTransport(guard, Patience(total_seconds, check), ssl_context),
        headers={"User-Agent": user_agent, "Accept-Encoding": "gzip"},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        trust_env=False,
        follow_redirects=False,
        timeout=None,  # noqa: S113 - the patience above bounds the whole exchange, which is stricter
    )
