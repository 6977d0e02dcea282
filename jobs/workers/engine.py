"""One worker process: its parts, put together, started and stopped in order."""

import os
import random
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import psycopg
import structlog

from jobs.conf import Conf
from jobs.domain.errors import ServiceRemoved, WorkerStopping
from jobs.domain.outcomes import Ended, Outcome, Released
from jobs.handlers import registry
from jobs.handlers.remote import Elsewhere
from jobs.queue import fleet
from jobs.queue.fleet import WorkerIdentity
from jobs.queue.sweep import Sweep
from jobs.workers import alerts
from jobs.workers.active import ActiveRun, ActiveRuns
from jobs.workers.dispatcher import ClaimTerms, Dispatcher
from jobs.workers.follower import Follower
from jobs.workers.identity import new_worker_id
from jobs.workers.judge import mended
from jobs.workers.link import Connect, Link, is_outage
from jobs.workers.listener import Listener
from jobs.workers.pulse import Pulse
from jobs.workers.remote_types import RemoteTypes
from jobs.workers.reports import Reports
from jobs.workers.rulebook import Rulebook
from jobs.workers.runner import Runner
from jobs.workers.standard_files import StandardFiles

log = structlog.get_logger("jobs.worker")

VERSION = "0.1.0"
# How long runs that were asked to stop may take to save their checkpoints, and ends to be recorded, at a shutdown.
STOP_SECONDS = 5.0
# The dispatcher waits for nobody's row for long: all ends and claims of the process go through it.
LOCK_TIMEOUTS = {"dispatcher": "200ms"}
# A handler that was fenced off and has not returned after so long keeps its thread; another takes its slot.
STUCK_SECONDS = 5.0


class Engine:
    """Claims, runs, beats, sweeps. The executing threads are Huey's; all others are here."""

    def __init__(self, conf: Conf, connect: Connect, concurrency: int, on_ready: Callable[[], None]) -> None:
        """`on_ready` is called once, when the worker is in the registry."""
        registry.load(conf.handler_modules)
        worker_id = new_worker_id()
        self.identity = WorkerIdentity(
            worker_id, socket.gethostname(), os.getpid(), concurrency, registry.types(), VERSION, registry.versions()
        )
        self._conf = conf
        self.grace = conf.shutdown_grace
        self._rng = random.Random()  # noqa: S311 - jitter, guards nothing
        self._links = {
            name: Link(connect, name, lock_timeout=LOCK_TIMEOUTS.get(name, "1s"))
            for name in ("dispatcher", "pulse", "reports", "sweep")
        }
        self._remote_types = RemoteTypes(
            conf.poll_interval, bool(conf.public_url), self._take_types, self._stop_runs_elsewhere
        )
        self.active = ActiveRuns()
        self._reports = Reports(worker_id)
        self._rulebook = Rulebook(self._links["reports"], conf.poll_interval)
        self.runner = Runner(
            self._reports, self._links["reports"], conf.retry_jitter, self._rng, self._rulebook.in_force
        )
        self.dispatcher = Dispatcher(worker_id, self._links["dispatcher"], self.active, self._terms(), self._mend)
        self._follower = Follower(
            conf.remote_runs_followed, self.runner.raised, self._finish, lambda link: link.call(self._beat)
        )
        self._stopping = False
        self._on_ready: Callable[[], None] | None = on_ready
        self._pulse = Pulse(
            worker_id,
            self._links["pulse"],
            self.active,
            self._reports,
            self._rulebook,
            conf.heartbeat_interval,
            self._say_that_we_live,
            refreshers=[self._remote_types.refresh, self._follower.look],
        )
        self._listener = Listener(
            connect,
            worker_id,
            {
                "detiq_jobs": self.dispatcher.look_now,
                "detiq_cancel": self._pulse.look_now,
                "detiq_rules": self._rulebook.look_now,
                "detiq_remote": self._look_for_types,
            },
        )
        self._threads: dict[str, threading.Thread] = {}
        self._next_full_sweep = 0.0
        self._busy: dict[int, ActiveRun] = {}
        self._files = StandardFiles()
        self._job_threads = 0
        self._counting = threading.Lock()

    def _terms(self) -> ClaimTerms:
        return ClaimTerms(
            types=self.identity.types,
            tenant_cap=self._conf.tenant_cap,
            type_caps={"DISCOVER": self._conf.discover_cap},
            poll_seconds=self._conf.poll_interval.total_seconds(),
            strict=self._conf.claim_order == "strict",
            relief=self._conf.priority_relief,
        )

    # --- Life --------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self.ensure_threads()
        log.info("worker.started", worker=self.identity.id, slots=self.identity.slots, types=self.identity.types)

    def ensure_threads(self) -> None:
        """Starts the service threads; called again now and then, it restarts those that died."""
        loops: dict[str, Callable[[], None]] = {
            "dispatcher": self.dispatcher.run,
            "pulse": self._pulse.run,
            "listener": self._listener.run,
        }
        for name, loop in loops.items():
            thread = self._threads.get(name)
            if thread is None or not thread.is_alive():
                if thread is not None:
                    log.error("worker.thread_died", thread=name)
                self._threads[name] = threading.Thread(target=loop, name=f"detiq-{name}", daemon=True)
                self._threads[name].start()

    def work(self) -> None:
        """One job by the calling thread: waits for it, runs it, hands over its end. Returns at once when stopping."""
        active = self.dispatcher.next_run()
        if active is None:
            return
        me = threading.get_ident()
        self._busy[me] = active
        try:
            outcome = self.runner.run(active)
            self._files.open_again()
            if isinstance(outcome, Elsewhere):
                self._follower.follow(active, outcome)
                self.dispatcher.look_now()  # no end that is recorded brings this thread its next job
            else:
                self._finish(active, outcome)
        except BaseException:
            self.active.remove(active.run)  # nobody beats for it from here on: the sweep will take it
            raise
        finally:
            del self._busy[me]

    def _finish(self, active: ActiveRun, outcome: Outcome | None) -> None:
        active.ending = True
        if outcome is None or active.lost:
            self.active.remove(active.run)
        else:
            self.dispatcher.end(Ended(active.run, outcome))

    def thread_began(self) -> None:
        with self._counting:
            self._job_threads += 1

    def thread_ended(self) -> None:
        with self._counting:
            self._job_threads -= 1

    def leave_if_surplus(self) -> bool:
        """Should the calling thread end, because one that was stuck has come back?"""
        with self._counting:
            return self._job_threads > self.identity.slots + self.stuck_threads()

    def stuck_threads(self) -> int:
        """Threads whose handler does not return although its run is no longer ours. No row counts them any more."""
        now = time.monotonic()
        busy = list(self._busy.values())
        return sum(active.lost and now - (active.stop.since or now) > STUCK_SECONDS for active in busy)

    def sweep(self) -> None:
        """What is due of the sweep. Raises when the database is away."""
        now = time.monotonic()
        full = now >= self._next_full_sweep

        def duties(connection: psycopg.Connection[object]) -> dict[str, int]:
            sweep = Sweep(
                connection, self._conf.stale_timeout, self._conf.poll_interval, self._conf.retry_jitter, self._rng
            )
            return sweep.full() if full else sweep.light()

        self._links["sweep"].call(duties)
        if full:
            self._links["sweep"].call(alerts.duty)
        if full:
            self._next_full_sweep = now + self._conf.poll_interval.total_seconds()

    # --- Death -------------------------------------------------------------------------------------------------------

    def stop_claiming(self) -> None:
        """The first step of a shutdown: nothing new starts."""
        self._stopping = True
        self.dispatcher.stop_claiming()
        log.info("worker.stopping", worker=self.identity.id, running=len(self.active.all()))

    def wait_until_idle(self, grace: timedelta) -> bool:
        """The second: jobs may finish."""
        return self.active.wait_until_idle(grace.total_seconds())

    def put_back(self) -> None:
        """The third: what still runs is asked to save its checkpoint and is put back; what does not listen, too."""
        self.active.stop_all(WorkerStopping())
        self.active.wait_until_idle(STOP_SECONDS)
        for active in self.active.working():
            active.ending = True
            log.warning("run.put_back_by_force", job=active.run.job_id, worker=self.identity.id)
            self.dispatcher.end(Ended(active.run, Released("its worker stops; the handler did not")))
        if not self.active.wait_until_idle(STOP_SECONDS):
            log.error("worker.ends_not_recorded", jobs=[active.run.job_id for active in self.active.all()])

    def stop(self) -> None:
        """The last: the service threads end, the last reports are written, the registry is told."""
        for part in (self.dispatcher, self._listener, self._pulse):
            part.stop()
        for thread in self._threads.values():
            thread.join(2)
        try:
            self._reports.write(self._links["pulse"])
            self._links["pulse"].call(lambda connection: fleet.stop(self.identity, connection))
        except Exception as error:
            if not is_outage(error):
                raise
            log.warning("worker.goodbye_not_written", error=str(error)[:300])
        for link in self._links.values():
            link.close()
        log.info("worker.stopped", worker=self.identity.id)

    # --- Helpers -----------------------------------------------------------------------------------------------------

    def _beat(self, connection: psycopg.Connection[object]) -> None:
        """A run that holds no thread brings a slot of its own, so that runs and free slots add up."""
        slots = self.identity.slots + self._follower.threadless
        fleet.beat(replace(self.identity, slots=slots), self._stopping, connection)

    def _say_that_we_live(self, connection: psycopg.Connection[object]) -> None:
        self._beat(connection)
        if self._on_ready is not None:
            self._on_ready()
            self._on_ready = None

    def _look_for_types(self) -> None:
        self._remote_types.look_now()
        self._pulse.look_now()

    def _take_types(self, types: list[str]) -> None:
        """What this process can do has changed: the registry is told before anything of it is claimed."""
        self.identity = replace(self.identity, types=types, versions=registry.versions())
        self._links["pulse"].call(self._beat)
        self.dispatcher.take_types(types)
        log.info("worker.types_changed", worker=self.identity.id, types=types)

    def _stop_runs_elsewhere(self, types: set[str]) -> None:
        """These types are no longer done by a service: nobody believes what it would tell of the runs it has."""
        for active in self.active.working():
            if active.job.type in types:
                active.stop.set(ServiceRemoved(f"{active.job.type} is no longer mapped to a service"))

    def _mend(self, ended: Ended, error: Exception) -> Ended:
        active = next((one for one in self.active.all() if one.run == ended.run), None)
        return mended(ended, error, active.job if active else None, self._conf.retry_jitter, self._rng)
