"""Hints: fast, cheap, and only for those who are signed in."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client

from tests.factories import user

pytestmark = pytest.mark.django_db(transaction=True)

type Connect = Callable[[], psycopg.Connection]


class Stream:
    """One open page."""

    def __init__(self, site: str, cookie: str = "") -> None:
        self.cookie = cookie
        self.connection = HTTPConnection(urlsplit(site).netloc, timeout=10)
        self.connection.request("GET", "/live/", headers={"Cookie": cookie})
        self.response: HTTPResponse = self.connection.getresponse()
        self.heard: list[float] = []
        if self.response.status == 200:
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            for line in self.response:
                if line.startswith(b"data:"):
                    assert json.loads(line[5:]) == {"topics": []}
                    self.heard.append(time.monotonic())
        except (OSError, ValueError, AttributeError):
            return

    def wait(self, count: int, seconds: float = 5) -> float:
        """The moment of the hint number `count`."""
        until = time.monotonic() + seconds
        while len(self.heard) < count and time.monotonic() < until:
            time.sleep(0.005)
        assert len(self.heard) >= count, f"{len(self.heard)} hints"
        return self.heard[count - 1]

    def settle(self) -> int:
        """How many hints came, once none comes any more."""
        self.wait(1)
        count = -1
        while count != len(self.heard):
            count = len(self.heard)
            time.sleep(0.4)
        return count

    def close(self) -> None:
        if self.connection.sock:
            self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.connection.close()


@pytest.fixture
def open_stream(live_site: str) -> Iterator[Callable[[], Stream]]:
    streams: list[Stream] = []

    def start() -> Stream:
        client = Client()
        client.force_login(user("viewer"), "django.contrib.auth.backends.ModelBackend")
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        streams.append(Stream(live_site, f"{cookie.key}={cookie.value}"))
        return streams[-1]

    yield start
    for stream in streams:
        stream.close()


def insert(connection: psycopg.Connection) -> float:
    connection.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                          VALUES (gen_random_uuid()::text, 't', 'CRAWL', '{}')""")
    return time.monotonic()


def test_two_pages_hear_of_a_commit_within_half_a_second(open_stream: Callable[[], Stream], make_conn: Connect) -> None:
    pages = [open_stream(), open_stream()]
    for page in pages:
        assert page.response.headers["Content-Type"] == "text/event-stream"
        assert page.response.headers["X-Accel-Buffering"] == "no"
    counts = [page.settle() for page in pages]
    committed = insert(make_conn())
    for page, count in zip(pages, counts, strict=True):
        assert page.wait(count + 1) - committed < 0.5


def test_a_storm_of_changes_becomes_a_few_hints(open_stream: Callable[[], Stream], make_conn: Connect) -> None:
    page, connection = open_stream(), make_conn()
    count = page.settle()
    began = time.monotonic()
    for _ in range(300):
        insert(connection)
    lasted = time.monotonic() - began
    page.wait(count + 1)
    assert page.settle() - count <= lasted / 0.1 + 3


def test_open_pages_hold_no_connection_but_one(
    open_stream: Callable[[], Stream], live_site: str, make_conn: Connect
) -> None:
    pages = [open_stream() for _ in range(14)]  # more than the console's pool has
    for page in pages:
        page.wait(1)
    count = (
        make_conn()
        .execute("""SELECT count(*) FROM pg_stat_activity
                                    WHERE datname = current_database() AND application_name = 'detiq-live'""")
        .fetchone()
    )
    assert count == (1,)
    for _ in range(3):  # and pages are still served at once
        ask = HTTPConnection(urlsplit(live_site).netloc, timeout=3)
        ask.request("GET", "/jobs/", headers={"Cookie": pages[0].cookie})
        assert ask.getresponse().status == 200
        ask.close()


def test_hints_go_on_after_the_listener_was_cut_off(open_stream: Callable[[], Stream], make_conn: Connect) -> None:
    page, connection = open_stream(), make_conn()
    count = page.settle()
    connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'detiq-live'")
    page.wait(count + 1)  # what was missed meanwhile is not known: look again
    count = page.settle()
    committed = insert(connection)
    assert page.wait(count + 1) - committed < 0.5


def test_strangers_get_401_and_no_stream(live_site: str) -> None:
    for cookie in ("", f"{settings.SESSION_COOKIE_NAME}=nonsense"):
        stream = Stream(live_site, cookie)
        assert stream.response.status == 401
        assert json.loads(stream.response.read()) == {"error": "Sign in first."}
        stream.close()


def test_who_signs_out_loses_the_stream() -> None:
    import asyncio

    from jobs.console import live
    from jobs.console.queries.db import apart
    from jobs.console.views.live import _welcome

    client = Client()
    client.force_login(user("viewer"), "django.contrib.auth.backends.ModelBackend")
    key = client.cookies[settings.SESSION_COOKIE_NAME].value

    async def follow() -> list[str]:
        async def welcome() -> bool:
            return await apart(_welcome, key)

        events = []
        async for event in live.stream(welcome):
            events.append(event)
            if len(events) == 2:
                await apart(Session.objects.all().delete)
            assert len(events) < 20
        assert live.hub().size == 0
        return events

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live, "PING_SECONDS", 0.05)
        patch.setattr(live, "RECHECK_SECONDS", 0.1)
        with ThreadPoolExecutor(1) as pool:  # the browser tests leave a loop running in this thread
            assert live.PING in pool.submit(lambda: asyncio.run(follow())).result(10)
