"""The server: counts who asked for what and when, and keeps no request open once the site is closed."""

import ssl
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.site import pages

SPECIALS = tuple(pages.SPECIAL_LINKS)


@dataclass(frozen=True)
class Hit:
    """One request. `at` is monotonic seconds, taken when the request arrived; `done` when the answer was sent."""

    path: str
    at: float
    agent: str


@dataclass
class Site:
    """`special` are the hard pages that the start page links to (`SPECIALS`: all); the others answer all the same.
    `robots` is the text of robots.txt, None for the usual one; `robots_status` its status. `busy_times` is how often
    /busy answers 429 before it gives in."""

    pages: int = 20
    special: tuple[str, ...] = ()
    port: int = 0
    robots: str | None = None
    robots_status: int = 200
    crawl_delay: float | None = None
    sitemap: bool = True
    slow_seconds: float = 0.5
    page_seconds: float = 0.0
    busy_times: int = 1
    retry_after: str = "1"
    start_status: int = 200
    hits: list[Hit] = field(default_factory=list)

    def __enter__(self) -> Self:
        self.closed = threading.Event()
        self._server = _Server(("127.0.0.1", self.port), _Handler)
        self._server.site = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def wrap(self, context: ssl.SSLContext) -> None:
        """From now on the site answers over TLS only."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)

    def close(self) -> None:
        self.closed.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def counts(self) -> Counter[str]:
        """Requests per path."""
        return Counter(hit.path for hit in self.hits)

    def times(self, *paths: str) -> list[float]:
        """When requests arrived, in order; of these paths, or all."""
        return [hit.at for hit in self.hits if not paths or hit.path in paths]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    site: Site

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of what is tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65_536  # an answer leaves in one piece; in two it would wait for the client's delayed acknowledgement
    server: _Server

    def do_GET(self) -> None:
        site = self.server.site
        if site.closed.is_set():  # a connection that was kept open ends like the site itself
            self.close_connection = True
            return
        site.hits.append(Hit(self.path, time.monotonic(), self.headers.get("User-Agent", "")))
        pages.answer(self, site)

    def send(self, status: int, body: bytes, content_type: str = "text/html; charset=utf-8", **headers: str) -> None:
        """A whole answer. Header names are given with underscores."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""
