"""How the console's process answers: static files beside pages, and a page without changing threads at every step."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.request import Request, urlopen

import pytest
from asgiref.sync import SyncToAsync
from django.contrib.sessions.models import Session
from django.db import connection
from django.http import StreamingHttpResponse
from django.test import Client

from detiq_admin.handler import Handler
from jobs.console.middleware import GuardMiddleware, SignedInMiddleware
from jobs.console.queries.db import apart
from jobs.console.views import audit

pytestmark = pytest.mark.django_db(transaction=True)


async def ask(path: str, cookie: str = "") -> tuple[int, dict[str, str], bytes]:
    """What the handler answers a browser that asks once and waits."""
    sent: list[dict[str, Any]] = []
    over = asyncio.Event()
    requests = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> dict[str, Any]:
        for message in requests:
            return message
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [(b"host", b"testserver"), (b"accept", b"text/html"), (b"cookie", cookie.encode())]
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "path": path,
             "raw_path": path.encode(), "query_string": b"", "root_path": "", "scheme": "http", "headers": headers,
             "client": ("127.0.0.1", 5), "server": ("testserver", 80)}  # fmt: skip
    await Handler()(scope, receive, send)
    over.set()
    answered = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, b"".join(message.get("body", b"") for message in sent[1:])


def test_a_page_is_made_in_one_thread(viewer: Client, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[threading.Thread] = []

    def noting(function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any, **options: Any) -> Any:
            seen.append(threading.current_thread())
            return function(*args, **options)

        return noted

    crossings = []
    crossed = SyncToAsync.__call__

    async def crossing(self: Any, *args: Any, **options: Any) -> Any:
        crossings.append(self.func)
        return await crossed(self, *args, **options)

    monkeypatch.setattr(SyncToAsync, "__call__", crossing)
    monkeypatch.setattr(GuardMiddleware, "__call__", noting(GuardMiddleware.__call__))
    monkeypatch.setattr(SignedInMiddleware, "process_view", noting(SignedInMiddleware.process_view))
    monkeypatch.setattr(audit, "show", noting(audit.show))
    cookie = f"{settings.SESSION_COOKIE_NAME}={viewer.session.session_key}"
    status, headers, body = asyncio.run(ask("/audit/", cookie))
    assert status == 200 and b"Audit" in body and "content-security-policy" in headers
    assert len(seen) == 3 and len(set(seen)) == 1 and seen[0] is not threading.main_thread()
    # To the thread and back, what Django's signals and the end of an answer need; it was twenty before.
    assert len(crossings) <= 6, crossings


def test_a_stream_holds_no_connection_and_leaves_none_when_it_breaks(
    viewer: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[Any] = []
    open_meanwhile: list[bool] = []

    async def broken() -> AsyncIterator[bytes]:
        open_meanwhile.append(not held[0].closed)
        yield b"one line"
        await apart(lambda: held.append(connection.cursor().connection))
        open_meanwhile.append(not held[1].closed)
        raise RuntimeError("the stream broke")

    def show(*_: Any) -> StreamingHttpResponse:
        held.append(connection.connection)
        return StreamingHttpResponse(broken())

    monkeypatch.setattr(audit, "show", show)
    with pytest.raises(RuntimeError, match="the stream broke"):
        asyncio.run(ask("/audit/", f"{settings.SESSION_COOKIE_NAME}={viewer.session.session_key}"))
    assert open_meanwhile == [False, False]


def test_errors_and_strangers_are_answered_as_pages(settings: Any) -> None:
    assert asyncio.run(ask("/nowhere/"))[0] in {302, 404}
    status, headers, _ = asyncio.run(ask("/audit/"))
    assert status == 302 and headers["location"].startswith("/accounts/login/")
    Session.objects.all().delete()
    assert asyncio.run(ask("/audit/", f"{settings.SESSION_COOKIE_NAME}=gone"))[0] == 302


def test_static_files_are_what_they_say_and_do_not_lead_out(live_site: str) -> None:
    with urlopen(f"{live_site}/static/css/tokens.css") as answer:  # noqa: S310
        assert answer.headers["Content-Type"].startswith("text/css")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.read()
    for path in ("/static/../manage.py", "/static/%2e%2e/manage.py", "/static/css/", "/static/nothing.css"):
        assert asyncio.run(ask(path))[0] in {302, 404}, path


def test_after_the_databases_restart_the_first_page_is_there_at_once(
    viewer: Client, live_site: str, settings: Any
) -> None:
    cookie = f"{settings.SESSION_COOKIE_NAME}={viewer.session.session_key}"

    def page(_: int = 0) -> int:
        with urlopen(Request(f"{live_site}/audit/", headers={"Cookie": cookie})) as answer:  # noqa: S310
            return int(answer.status)

    with ThreadPoolExecutor(12) as many:
        assert set(many.map(page, range(24))) == {200}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
            "WHERE application_name = 'detiq-web' AND datname = current_database() AND state = 'idle'"
        )
        assert cursor.fetchone()[0] > 3
    began = time.monotonic()
    assert page() == 200
    assert time.monotonic() - began < 2.5  # each dead session was waited for longer than the one before: 1, 2, 4 s
