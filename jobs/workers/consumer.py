"""Huey's consumer with our worker and scheduler classes.

Threads, health checks and signals are Huey's, the work is ours.

The first worker is a plain one, for Huey's own tasks, so that long jobs never hold up an operator's bulk operation; the
others claim and run jobs. The scheduler also sweeps.
"""

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from huey import PostgresHuey
from huey.consumer import Consumer, Scheduler, Worker, WorkerRecycle
from huey.storage import PostgresStorage
from psycopg.errors import ReadOnlySqlTransaction

from jobs.workers.engine import STOP_SECONDS, Engine
from jobs.workers.ledger import drainer
from jobs.workers.link import Backoff, is_outage

PLAIN_WORKERS = 1

log = logging.getLogger("jobs.worker")


class JobWorker(Worker):
    """A thread that runs jobs, one at a time: the number of these threads is how many run at once."""

    process_name = "JobWorker"
    engine: Engine

    def loop(self, now: Any = None) -> None:
        if self.engine.leave_if_surplus():
            raise WorkerRecycle
        self.engine.work()

    def initialize(self) -> None:
        self.engine.thread_began()
        super().initialize()

    def shutdown(self) -> None:
        self.engine.thread_ended()
        super().shutdown()


class PlainWorker(Worker):
    """A thread for Huey's own tasks, which between them also looks at the ledger."""

    engine: Engine

    def loop(self, now: Any = None) -> None:
        super().loop(now)
        drainer.look(lambda: bool(self.huey.pending_count()))


class SweepScheduler(Scheduler):
    """Huey's scheduler, which also sweeps."""

    engine: Engine
    _backoff: Backoff | None = None

    def loop(self, now: Any = None) -> None:
        self._backoff = self._backoff or Backoff("sweep")
        try:
            self.engine.sweep()
        except Exception as error:  # noqa: BLE001 - a sweep that fails must not end the sweeping
            if not is_outage(error):
                log.exception("sweep failed")
            self.stop_flag.wait(self._backoff.failed(error))
            return
        self._backoff.succeeded()
        super().loop(now)


class JobsConsumer(Consumer):
    """One worker process."""

    scheduler_class = SweepScheduler
    scheduler: Any
    worker_threads: list[tuple[Worker, Any]]

    def __init__(self, huey: PostgresHuey, engine: Engine, **options: Any) -> None:
        self.engine = engine
        self._created = 0
        super().__init__(
            huey,
            workers=PLAIN_WORKERS + engine.identity.slots,
            worker_type="thread",
            health_check_interval=5,
            graceful_signal="TERM",
            **options,
        )
        # Every way of asking a process to end is a graceful one; none restarts it.
        self._signal_actions = dict.fromkeys((signal.SIGTERM, signal.SIGINT, signal.SIGHUP), (False, True))

    def _create_worker(self) -> Worker:
        self._created += 1
        return self._new_worker(JobWorker if self._created > PLAIN_WORKERS else PlainWorker)

    def _new_worker(self, kind: type[Worker]) -> Worker:
        worker = kind(
            huey=self.huey,
            stop_flag=self.stop_flag,
            default_delay=self.default_delay,
            max_delay=self.max_delay,
            backoff=self.backoff,
            max_tasks=self.max_tasks,
        )
        worker.engine = self.engine
        return worker

    def _create_scheduler(self) -> Scheduler:
        scheduler = super()._create_scheduler()
        scheduler.engine = self.engine
        return scheduler

    def start(self) -> None:
        self.engine.start()
        super().start()

    def check_worker_health(self) -> bool:
        """Threads that died are replaced; one that is stuck for good gets another beside it, so that no slot is lost."""
        self.engine.ensure_threads()
        alive = [(worker, thread) for worker, thread in self.worker_threads if self.environment.is_alive(thread)]
        job_threads = sum(isinstance(worker, JobWorker) for worker, _ in alive)
        wanted: list[type[Worker]] = [PlainWorker] * (PLAIN_WORKERS - len(alive) + job_threads)
        wanted += [JobWorker] * (self.engine.identity.slots + self.engine.stuck_threads() - job_threads)
        self.worker_threads = alive + [self._started(kind) for kind in wanted]
        healthy = not wanted
        if not self.environment.is_alive(self.scheduler):
            healthy = False
            log.error("the scheduler died; it is replaced")
            scheduler = self._create_process(self._create_scheduler(), "Scheduler")
            scheduler.start()
            self.scheduler = scheduler
        return healthy

    def _started(self, kind: type[Worker]) -> tuple[Worker, Any]:
        self._created += 1
        name = f"Worker-{self._created}"
        log.error("a thread died, or holds a run that is no longer ours; %s takes its place", name)
        worker = self._new_worker(kind)
        thread = self._create_process(worker, name)
        thread.start()
        return worker, thread

    def stop(self, graceful: bool = False) -> None:
        """Stop claiming; let jobs finish; put back the rest. A second signal does the last step at once."""
        self.engine.stop_claiming()
        drainer.stop()
        self.stop_flag.set()
        try:
            if graceful:
                self.engine.wait_until_idle(self.engine.grace)
        except KeyboardInterrupt:
            log.warning("second signal: jobs are put back now")
        # From here on a further signal changes nothing: the last step is short.
        for number in self._signal_actions:
            signal.signal(number, signal.SIG_IGN)
        self.engine.put_back()
        drainer.wait_until_idle(STOP_SECONDS)
        self.engine.stop()


class JobsStorage(PostgresStorage):
    """A session that began while the database could only be read may stay so for ever: the next call gets a new one."""

    @contextmanager
    def db(self, commit: bool = False, close: bool = False) -> Iterator[Any]:
        """A cursor, as Huey wants it. Raises whatever is raised inside."""
        try:
            with super().db(commit, close) as cursor:
                yield cursor
        except ReadOnlySqlTransaction:
            self.close()
            raise


class JobsHuey(PostgresHuey):
    """PostgresHuey whose consumer is ours, so that Huey's own `run_huey` starts the same worker."""

    storage_class = JobsStorage

    def create_consumer(self, **options: Any) -> Consumer:
        from jobs.workers.start import new_consumer

        return new_consumer(self, options.get("workers"))
