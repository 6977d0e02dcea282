"""A service on loopback that takes runs and says only what a test tells it to say."""

import json
import secrets
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from jobs.domain.remote import CALLBACK, REQUEST, Message, headers, verified
from tests.workers.helpers import wait_for

SECRET = "dts_of-a-test"


@dataclass
class Asked:
    """A request that came in. `genuine`: its signature fits the service's secret."""

    event: str
    body: dict[str, Any]
    genuine: bool
    headers: dict[str, str]


@dataclass
class Service:
    """`status` is what it answers to start, `stop_status` to cancel; `location` for redirects; `slow_seconds` before it."""

    secret: str = SECRET
    status: int = 202
    stop_status: int = 202
    location: str = ""
    retry_after: str = ""
    slow_seconds: float = 0.0
    asked: list[Asked] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/run"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def of(self, event: str) -> list[Asked]:
        return [one for one in self.asked if one.event == event]

    def tell(self, start: Asked, event: str, value: Any, **more: Any) -> tuple[int, dict[str, Any]]:
        """A callback over HTTP; the status and the answer."""
        body, sent = callback(start.body["run"], event, value, self.secret, **more)
        request = urllib.request.Request(start.body["callbackUrl"] + event, body, sent, method="POST")  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


def asked(service: Service, event: str = "start", n: int = 1) -> Asked:
    """The n-th request of a kind, once it has come."""
    wait_for(lambda: len(service.of(event)) >= n)
    return service.of(event)[n - 1]


def calls_back(site: str) -> dict[str, str]:
    """The environment of a worker whose services report to the console at `site`."""
    return {"DETIQ_PUBLIC_URL": site, "REMOTE_ALLOWED_HOSTS": "127.0.0.1", "JOB_RETRY_JITTER": "0"}


def callback(
    run: str, event: str, value: Any, secret: str = SECRET, *, nonce: str = "", at: float | None = None
) -> tuple[bytes, dict[str, str]]:
    """Body and headers of a callback; `value` may be bytes."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    stamp = int(time.time() if at is None else at)
    message = Message(CALLBACK, event, run, stamp, nonce or secrets.token_urlsafe(18), body)
    return body, headers(message, [secret])


def _handler(service: Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            given = {name.lower(): value for name, value in self.headers.items()}
            event = given["detiq-event"]
            message = Message(
                REQUEST, event, given["detiq-run"], int(given["detiq-timestamp"]), given["detiq-nonce"], body
            )
            genuine = verified(message, given["detiq-signature"], [service.secret])
            service.asked.append(Asked(event, json.loads(body), genuine, given))
            time.sleep(service.slow_seconds)
            self.send_response(service.status if event == "start" else service.stop_status)
            for name, value in (("Location", service.location), ("Retry-After", service.retry_after)):
                if value:
                    self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
