"""Short words for what these tests do again and again, and two receivers: one for HTTP, one for mail."""

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from jobs.domain import alerts as domain
from jobs.models import AlertChannel
from jobs.notifications import watch
from jobs.vault import CHANNELS

SILENT = 45.0
SECRET = "a-secret-of-enough-characters"


def evaluate(conn: Any, now: datetime | None = None) -> int | None:
    """One evaluation, whenever the last one was."""
    return watch.evaluate(SILENT, conn, now, every=0)


def rows(conn: Any, sql: str, *params: Any) -> list[dict[str, Any]]:
    cursor = conn.execute(sql, params)
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def alerts(conn: Any, rule: str = "") -> list[dict[str, Any]]:
    return [row for row in rows(conn, "SELECT * FROM alert ORDER BY id") if rule in ("", row["rule"])]


def deliveries(conn: Any) -> list[dict[str, Any]]:
    return rows(conn, "SELECT * FROM alert_delivery ORDER BY created_at, channel_id, event")


def notifications(conn: Any) -> list[dict[str, Any]]:
    return rows(conn, 'SELECT * FROM "Notification" ORDER BY id')


def member(conn: Any, tenant: str, user: str, role: str = "OWNER") -> None:
    conn.execute('INSERT INTO "Membership" ("tenantId", "userId", role) VALUES (%s, %s, %s)', [tenant, user, role])


def only(conn: Any, rule: str, **values: int) -> None:
    """Every rule off but this one."""
    for one in domain.RULES.values():
        numbers = {"threshold": one.threshold, "minutes": one.minutes} | (values if one.name == rule else {})
        conn.execute(
            """INSERT INTO alert_rule (name, enabled, critical, threshold, minutes, updated_by)
               VALUES (%s, %s, %s, %s, %s, 'a test')""",
            [one.name, one.name == rule, one.critical, numbers["threshold"], numbers["minutes"]],
        )


def channel(kind: str = "webhook", target: str = "http://127.0.0.1:9/", **more: Any) -> AlertChannel:
    fields = {"name": f"the {kind}", "shown": "…", "updated_by": "a test"} | more
    return AlertChannel.objects.create(kind=kind, target=CHANNELS.seal(target), secret=CHANNELS.seal(SECRET), **fields)


def dead(conn: Any, id: str, tenant: str = "acme", type: str = "CRAWL", error: str = "HTTP 502") -> None:
    """Another program dead-letters a job, by plain SQL."""
    conn.execute(
        """INSERT INTO "PlatformJob" (id, "tenantId", type, config, status, "startedAt")
           VALUES (%s, %s, %s, '{}', 'RUNNING', now()) ON CONFLICT DO NOTHING""",
        [id, tenant, type],
    )
    conn.execute(
        """UPDATE "PlatformJob" SET status = 'FAILED', dlq = true, "dlqAt" = now(), error = %s, "finishedAt" = now()
            WHERE id = %s""",
        [error, id],
    )


def at(day: int, hour: int, minute: int = 0) -> datetime:
    """A moment of November 2026; the 2nd is a Monday."""
    return datetime(2026, 11, 1, tzinfo=UTC) + timedelta(days=day - 1, hours=hour, minutes=minute)


HANGS = b""


class Receiver:
    """What came, and what it answers: statuses, or texts that are sent as they are, a byte now and then. After `HANGS` it
    says nothing."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.answers: list[int | bytes] = []
        self.url = ""
        self.over = threading.Event()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]


@contextmanager
def http_receiver() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            answer = receiver.answers.pop(0) if receiver.answers else 204
            if isinstance(answer, bytes):
                return self.drip(answer)
            self.send_response(answer)
            self.send_header("Location", "http://169.254.169.254/latest/meta-data/")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def drip(self, text: bytes) -> None:
            self.close_connection = True
            with suppress(OSError):  # whoever asked has had enough
                for byte in text:
                    self.wfile.write(bytes([byte]))
                    receiver.over.wait(0.003)
            receiver.over.wait(20 if text == HANGS else 0)

        def log_message(self, *args: Any) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook?token=abc"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield receiver
        receiver.over.set()
        server.shutdown()


class MailSink:
    """The mails that came, as text, and codes to answer the data with."""

    def __init__(self) -> None:
        self.mails: list[str] = []
        self.recipients: list[list[str]] = []
        self.refuse = 0
        self.port = 0
        self.slow = "nothing"  # the word that it answers a byte at a time, HELO being its greeting
        self.over = threading.Event()


@contextmanager
def mail_receiver() -> Iterator[MailSink]:
    sink = MailSink()

    class Handler(socketserver.StreamRequestHandler):
        def say(self, line: str, to: str = "") -> None:
            for part in line + "\r\n" if sink.slow == to else [line + "\r\n"]:
                self.wfile.write(part.encode())
                sink.over.wait(0.1 if sink.slow == to else 0)

        def handle(self) -> None:
            with suppress(OSError):  # the other side has had enough
                self.talk()

        def talk(self) -> None:
            self.say("220 sink", "HELO")
            to: list[str] = []
            while line := self.rfile.readline().decode().strip():
                word = line[:4].upper()
                if word == "QUIT":
                    return self.say("221 bye", word)
                if word == "RCPT":
                    to.append(line.partition("<")[2].rstrip(">"))
                if word == "DATA" and not sink.refuse:
                    self.say("354 go on")
                    lines = iter(lambda: self.rfile.readline().decode().rstrip("\r\n"), ".")
                    sink.mails.append("\n".join(lines))
                    sink.recipients.append(to)
                self.say(f"{sink.refuse} no" if word == "DATA" and sink.refuse else "250 ok", word)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        sink.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield sink
        sink.over.set()
        server.shutdown()
