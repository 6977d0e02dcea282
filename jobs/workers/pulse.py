"""The pulse of a worker: heartbeats, cancels, reports.

A thread and a connection of its own, so that a handler that blocks is not taken for dead.
"""

import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import psycopg
import structlog

from jobs.queue import fleet, liveness
from jobs.workers.active import ActiveRuns
from jobs.workers.link import Backoff, Link, is_outage
from jobs.workers.lost import say_lost
from jobs.workers.reports import Reports
from jobs.workers.rulebook import Rulebook

log = structlog.get_logger("jobs.worker")

TICK_SECONDS = 0.25
LOOK_SECONDS = 1.0


class Pulse:
    """Beats until told to stop."""

    def __init__(
        self,
        worker_id: str,
        link: Link,
        active: ActiveRuns,
        reports: Reports,
        rulebook: Rulebook,
        heartbeat_interval: timedelta,
        on_beat: Callable[[psycopg.Connection[Any]], None] = lambda connection: None,
        may_rest: Callable[[], bool] = lambda: False,
        refreshers: Sequence[Callable[[Link], None]] = (),
    ) -> None:
        """`on_beat` is called with every heartbeat; `may_rest` is asked now and then whether the loop may end;
        `refreshers` read again, when that is due, what this process keeps of the database."""
        self._worker_id = worker_id
        self._link = link
        self._active = active
        self._reports = reports
        self._beat_seconds = heartbeat_interval.total_seconds()
        self._refreshers = (rulebook.refresh, *refreshers)
        self._on_beat = on_beat
        self._may_rest = may_rest
        self._wake = threading.Event()
        self._stopped = False
        self._next_beat = self._next_look = 0.0
        self._limits: dict[str, int] = {}

    def look_now(self) -> None:
        """Somebody may have asked a job to stop."""
        self._next_look = 0.0
        self._wake.set()

    def stop(self) -> None:
        self._stopped = True
        self._wake.set()

    def run(self) -> None:
        backoff = Backoff("pulse")
        while not self._stopped and not self._may_rest():
            self._wake.wait(min(TICK_SECONDS, self._beat_seconds))
            self._wake.clear()
            try:
                self.tick()
            except Exception as error:
                if not is_outage(error):
                    log.exception("worker.pulse_failed")
                self._wake.wait(backoff.failed(error))
            else:
                backoff.succeeded()

    def tick(self) -> None:
        """Does what is due."""
        now = time.monotonic()
        if now >= self._next_beat:
            self._beat()
            self._next_beat = now + self._beat_seconds
        if now >= self._next_look:
            self._next_look = now + LOOK_SECONDS
            self._look()
        self._active.end_overlong(self._limits)
        self._reports.write(self._link)
        for refresh in self._refreshers:
            self._refresh(refresh)

    def _refresh(self, refresh: Callable[[Link], None]) -> None:
        """One that fails keeps no other from its turn; without the database none has one."""
        try:
            refresh(self._link)
        except Exception as error:
            if is_outage(error):
                raise
            log.exception("worker.refresh_failed")

    def _beat(self) -> None:
        runs = [active.run for active in self._active.all()]
        if runs:
            self._link.call(lambda connection: liveness.beat(self._worker_id, runs, connection))
        self._limits = self._link.call(fleet.longest_runs)
        self._link.call(self._on_beat)

    def _look(self) -> None:
        looked_at = self._active.working()
        if not looked_at:
            return
        runs = [active.run for active in looked_at]
        statuses = self._link.call(lambda connection: liveness.look(self._worker_id, runs, connection))
        say_lost(self._link, self._active.heed(looked_at, statuses))
