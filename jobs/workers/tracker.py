"""The inline runs of one process: their beginning, their pulse, their end.

Whoever does the work is any thread of any program; what a worker's threads do for a claimed run is done here by the same
parts. One pulse serves all of a process's runs and rests when there are none.
"""

import os
import random
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import psycopg
import structlog

from jobs.conf import Conf
from jobs.domain.errors import JobCancelled, StopRun
from jobs.domain.outcomes import ClaimedJob, Ended, Outcome, Released
from jobs.queue import transitions
from jobs.workers.active import ActiveRun, ActiveRuns
from jobs.workers.identity import new_worker_id
from jobs.workers.judge import mended
from jobs.workers.link import Backoff, Connect, Link, is_about_us, is_outage, may_pass
from jobs.workers.pulse import Pulse
from jobs.workers.reports import Reports
from jobs.workers.rulebook import Rulebook
from jobs.workers.runner import Runner

log = structlog.get_logger("jobs.tracked")

REST_AFTER_SECONDS = 30.0


class Tracker:
    """Of one process; a forked child needs its own."""

    def __init__(self, conf: Conf, connect: Connect) -> None:
        self.pid = os.getpid()
        self.worker_id = new_worker_id()
        self.active = ActiveRuns()
        self._link, self._pulse_link = Link(connect, "tracked"), Link(connect, "tracked-pulse")
        self._reports = Reports(self.worker_id)
        self._jitter, self._rng = conf.retry_jitter, random.Random()  # noqa: S311 - jitter, guards nothing
        self._rulebook = Rulebook(self._link, conf.poll_interval)
        self.runner = Runner(self._reports, self._link, self._jitter, self._rng, self._rulebook.in_force)
        self._heartbeat_interval = conf.heartbeat_interval
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._idle_since = time.monotonic()

    def begin(self, *, type: str, tenant_id: str, project_id: str | None, name: str, **more: Any) -> ActiveRun:
        """A new job, RUNNING. Raises `InvalidInput`, and the database's error when it is away."""

        def track(connection: psycopg.Connection[Any]) -> ClaimedJob:
            return transitions.track(
                type=type,
                tenant_id=tenant_id,
                project_id=project_id,
                name=name,
                worker=self.worker_id,
                using=connection,
                **more,
            )

        try:
            job = self._link.call(track)
        except Exception as error:
            if not is_outage(error):
                raise
            job = self._link.call(track)  # a connection that rested may have been cut since
        active = ActiveRun(job)
        with self._lock:
            self.active.add(active)
            self._ensure_pulse()
        return active

    def end(self, active: ActiveRun, outcome: Outcome | None) -> None:
        """Returns when the end is recorded, or the run is found to be no longer ours. An outage is waited out."""
        active.ending = True
        try:
            if outcome is not None and not active.lost:
                self._record(active, Ended(active.run, outcome))
        finally:
            with self._lock:
                self.active.remove(active.run)
                self._idle_since = time.monotonic()

    def stopped_around(self, active: ActiveRun, reason: StopRun) -> Outcome:
        """The outcome of a run that stops because the work around it was told to: cancelled with it, or put back."""
        if isinstance(reason, JobCancelled):
            self._call(
                lambda connection: transitions.request_cancel(
                    [active.run.job_id],
                    actor=self.worker_id,
                    reason="the job around it was cancelled",
                    using=connection,
                )
            )
        return Released("the work around it stops")

    # --- The end -----------------------------------------------------------------------------------------------------

    def _record(self, active: ActiveRun, ended: Ended) -> None:
        while True:
            try:
                self._call(lambda _: self._reports.write(self._link))
            except psycopg.Error:
                log.exception("run.reports_failed", job=active.run.job_id)
            try:
                answer = self._call(partial(transitions.finish, self.worker_id, [ended]))[0]
            except psycopg.Error as error:
                log.exception("run.end_refused", job=active.run.job_id)
                ended = mended(ended, error, active.job, self._jitter, self._rng)
                time.sleep(0.2)
                continue
            if not answer.changed:
                log.warning("run.lost_at_end", job=answer.job_id, found=answer.found, worker=self.worker_id)
            return

    def _call[T](self, function: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Runs `function` on the connection, as often as it takes while the database is away or the row is locked."""
        backoff = Backoff("tracked")
        while True:
            try:
                answer = self._link.call(function)
            except psycopg.Error as error:
                if not may_pass(error) and not is_about_us(error):
                    raise
                time.sleep(backoff.failed(error))
            else:
                backoff.succeeded()
                return answer

    # --- The pulse ---------------------------------------------------------------------------------------------------

    def _ensure_pulse(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._beat, name="detiq-tracked", daemon=True)
            self._thread.start()

    def _beat(self) -> None:
        pulse = Pulse(
            self.worker_id,
            self._pulse_link,
            self.active,
            self._reports,
            self._rulebook,
            self._heartbeat_interval,
            may_rest=self._may_rest,
        )
        pulse.run()
        self._pulse_link.close()

    def _may_rest(self) -> bool:
        with self._lock:
            if self.active.all() or time.monotonic() - self._idle_since < REST_AFTER_SECONDS:
                return False
            self._thread = None
            self._link.close()
            return True
