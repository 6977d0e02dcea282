"""Hears of new work and of cancels.

A notification is a hint: nothing depends on it, and after a break everybody looks.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any

import psycopg
import structlog
from psycopg import sql

from jobs.queue.connections import sessions_change
from jobs.workers.link import Backoff, Connect, is_outage

log = structlog.get_logger("jobs.worker")

WAIT_SECONDS = 1.0
LOOK_SECONDS = 2.0
NEEDS_SESSIONS = (
    "DATABASE_URL leads through a pooler in transaction mode. A worker needs sessions of its own: give it the server's own "
    f"address, or pool_mode = session. Until then it hears of nothing, and looks every {LOOK_SECONDS:g} s."
)


class Listener:
    """Runs in a thread of its own, on a connection of its own."""

    def __init__(self, connect: Connect, worker_id: str, on: Mapping[str, Callable[[], None]]) -> None:
        """`on`: channel → what to do when something was said there. What this worker said itself is passed over."""
        self._connect = connect
        self._worker_id = worker_id
        self._on = on
        self._stop = threading.Event()

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        backoff = Backoff("listener")
        while not self._stop.is_set():
            try:
                if sessions_change(self._connect):
                    self._look_now_and_then(backoff)
                    return
                with self._connect("detiq-listener") as connection:
                    self._listen(connection, backoff)
            except Exception as error:
                if not is_outage(error):
                    log.exception("worker.listener_failed")
                self._stop.wait(backoff.failed(error))

    def _look_now_and_then(self, backoff: Backoff) -> None:
        """Where nothing can be heard, until told to stop."""
        log.warning("worker.behind_a_pooler", pool_mode="transaction", what=NEEDS_SESSIONS)
        backoff.succeeded()
        while not self._stop.wait(LOOK_SECONDS):
            for look in self._on.values():
                look()

    def _listen(self, connection: psycopg.Connection[Any], backoff: Backoff) -> None:
        for channel in self._on:
            connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
        backoff.succeeded()
        # What was said before we listened is lost: look.
        for look in self._on.values():
            look()
        while not self._stop.is_set():
            for notification in connection.notifies(timeout=WAIT_SECONDS):
                if notification.payload != self._worker_id:
                    self._on[notification.channel]()
                if self._stop.is_set():
                    return
