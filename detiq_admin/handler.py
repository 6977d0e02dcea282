"""How a request is answered by the console's process: static files on the event loop, a page in one thread."""

from collections.abc import Awaitable, Callable
from typing import cast

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.exception import convert_exception_to_response
from django.db import connections
from django.http import HttpRequest, HttpResponseBase
from django.middleware.security import SecurityMiddleware
from servestatic.middleware import ServeStaticMiddleware


class Handler(ASGIHandler):
    """Django's own lets every middleware change between the event loop and a thread, there and back: twenty times a
    page, a fifth of its time. Middleware, pages and their database work are synchronous, so they stay in one thread; only
    what is streamed (live hints, exports) is read on the loop."""

    def __init__(self) -> None:
        super().__init__()
        self._secured: Callable[..., HttpResponseBase] = SecurityMiddleware(self._page).process_response
        static = convert_exception_to_response(ServeStaticMiddleware(self._page))
        self._static = cast("Callable[[HttpRequest], Awaitable[HttpResponseBase]]", static)

    def load_middleware(self, is_async: bool = False) -> None:
        """The synchronous chain, whatever is asked for."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """A static file or a page."""
        return self._secured(request, await self._static(request))

    async def _page(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self._made)(request)

    def _made(self, request: HttpRequest) -> HttpResponseBase:
        """The connection goes back to the pool before the answer leaves: a stream may take hours, and one that breaks ends
        without the signal that Django gives it back with."""
        try:
            return self.get_response(request)
        finally:
            connections.close_all()
