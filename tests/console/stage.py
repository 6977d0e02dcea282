"""A real server on loopback for the frame's browser tests: the gallery, one live part, the hint stream, static files.

It needs no database: what a page shows is in `tests/console/gallery.py`, what a part answers is set by the test.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

from django.contrib.staticfiles import finders
from django.test import RequestFactory

from tests.console import gallery

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PART = '<section id="part" data-live data-live-url="/part" data-live-topics="jobs" data-live-every="{}">{}</section>'


class Stage:
    """What the server answers, and what it was asked."""

    def __init__(self) -> None:
        self.part = "<p id='figure'>first</p>"
        self.part_status = 200
        self.every = 60
        self.part_delay = 0.0
        self.post_delay = 0.0
        self.post_headers: dict[str, str] = {}
        self.post_status = 204
        self.post_body = ""
        self.asked: list[str] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.streams = 0
        self.hints = 0
        self.stream_status = 200
        self.page: str | None = None
        self.changed = threading.Condition()

    def hint(self) -> None:
        with self.changed:
            self.hints += 1
            self.changed.notify_all()

    def count(self, path: str) -> int:
        return self.asked.count(path)

    def render(self, **extra: object) -> str:
        request = RequestFactory().get("/")
        request.user = SimpleNamespace(is_authenticated=True, get_username=lambda: "kim.osei")
        return gallery.render(request, live_url="/live/", **extra)

    def front(self) -> str:
        """The gallery with the live part as the first thing in it."""
        page = self.page or self.render()
        return page.replace(
            '<nav class="state-strip"', PART.format(self.every, self.part) + '<nav class="state-strip"', 1
        )


def handler_for(stage: Stage) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Silent: a test says what went wrong."""

        def answer(self, status: int, body: bytes, kind: str = "text/html; charset=utf-8", **headers: str) -> None:
            self.send_response(status)
            all_headers = {"Content-Type": kind, "Content-Length": str(len(body)), "Content-Security-Policy": POLICY}
            for name, value in (all_headers | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            stage.asked.append(path)
            if path.startswith("/static/"):
                return self.static(path.removeprefix("/static/"))
            if path == "/part":
                return self.live_part()
            if path == "/live/":
                return self.stream()
            return self.answer(200, stage.front().encode())

        def static(self, name: str) -> None:
            found = finders.find(name)
            if not found:
                return self.answer(404, b"")
            return self.answer(200, Path(found).read_bytes(), guess_type(name)[0] or "application/octet-stream")

        def live_part(self) -> None:
            with stage.changed:
                stage.in_flight += 1
                stage.most_in_flight = max(stage.most_in_flight, stage.in_flight)
            body, status = stage.part, stage.part_status
            time.sleep(stage.part_delay)
            with stage.changed:
                stage.in_flight -= 1
            headers = {"Location": "/accounts/login/"} if status == 302 else {}
            self.answer(status, PART.format(stage.every, body).encode(), **headers)

        def stream(self) -> None:
            if stage.stream_status != 200:
                return self.answer(stage.stream_status, b"")
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(b": ping\n\n")
            stage.streams += 1
            seen = stage.hints
            try:
                while True:
                    with stage.changed:
                        if stage.hints == seen:
                            stage.changed.wait(0.2)
                    hinted = stage.hints > seen
                    seen = stage.hints
                    self.wfile.write(b'event: changed\ndata: {"topics": ["jobs"]}\n\n' if hinted else b": ping\n\n")
            except OSError:
                stage.streams -= 1
                self.close_connection = True

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            stage.asked.append(f"POST {urlsplit(self.path).path}")
            time.sleep(stage.post_delay)
            self.answer(stage.post_status, stage.post_body.encode(), **stage.post_headers)

    return Handler


@contextmanager
def serve(stage: Stage) -> Iterator[str]:
    """The stage's address while the server runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_for(stage))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
