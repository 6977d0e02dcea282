"""The most that a request may bring: Django writes a whole body to disk before any page or login is asked."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

type _Receive = Callable[[], Awaitable[Mapping[str, Any]]]
type _Send = Callable[[Mapping[str, Any]], Awaitable[None]]
type _App = Callable[[Any, _Receive, _Send], Awaitable[None]]

_TEXT = b"The request is too large. Nothing was kept."


class BodyLimit:
    """Wraps an ASGI application. What is said to be longer is answered 413; what is longer than it said, or says nothing,
    is cut off. `most_bytes` lies well above what a form refuses itself, so that its own message is seen first."""

    def __init__(self, app: _App, most_bytes: int) -> None:
        self._app = app
        self._most = most_bytes

    async def __call__(self, scope: dict[str, Any], receive: _Receive, send: _Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif _stated(scope) > self._most:
            headers = [
                (b"content-type", b"text/plain"),
                (b"content-length", str(len(_TEXT)).encode()),
                (b"connection", b"close"),
            ]
            await send({"type": "http.response.start", "status": 413, "headers": headers})
            await send({"type": "http.response.body", "body": _TEXT})
        else:
            await self._app(scope, _Counted(receive, self._most), send)


class _Counted:
    """Receives until there is too much; from then on the client counts as gone."""

    def __init__(self, receive: _Receive, left: int) -> None:
        self._receive, self._left = receive, left

    async def __call__(self) -> Mapping[str, Any]:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        return message if self._left >= 0 else {"type": "http.disconnect"}


def _stated(scope: dict[str, Any]) -> int:
    value = dict(scope["headers"]).get(b"content-length", b"")
    return int(value) if value.isdigit() and len(value) < 20 else 0
