"""Waiting for what a worker process does."""

import time
from collections.abc import Callable
from typing import Any

KIT = {"JOB_HANDLER_MODULES": "tests.workers.kit"}


def wait_for[T](what: Callable[[], T], seconds: float = 10.0) -> T:
    """Polls until `what()` is true; AssertionError with its last value after so many seconds."""
    deadline = time.monotonic() + seconds
    while not (value := what()):
        assert time.monotonic() < deadline, f"still {value!r} after {seconds:g} s"
        time.sleep(0.03)
    return value


def status(conn: Any, id: str) -> str:
    found = conn.execute('SELECT status FROM "PlatformJob" WHERE id = %s', [id]).fetchone()
    return found[0] if found else "gone"


def wait_status(conn: Any, id: str, wanted: str, seconds: float = 10.0) -> None:
    wait_for(lambda: status(conn, id) == wanted or None, seconds)
