"""A queue at work while all that can die dies at random; afterwards its history is asked whether a rule was broken."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta

import psycopg

from jobs.bench import statements
from jobs.bench.report import Section
from jobs.bench.server import Lab
from jobs.bench.soak_handlers import FLAKY, KILLER, POISON, STEADY, STUBBORN, TYPES
from jobs.bench.statements import Connection
from jobs.bench.workers import THREADS, Child, worker_command
from jobs.domain.new_job import NewJob
from jobs.domain.states import ENDED, JobStatus
from jobs.queue import checker, transitions

ACTOR = "soak"
TENANTS = 40
TENANT_CAP = 4
STALE = timedelta(seconds=6)
FROZEN_SECONDS = 9.0
LONGEST_STANDSTILL_SECONDS = 60.0  # so long nothing may end before what is left counts as stuck
_MIX = {STEADY: 70, FLAKY: 20, STUBBORN: 4, POISON: 3, KILLER: 0.4}
_CHAOS = {"kill": 30, "term": 15, "freeze": 10, "cut": 15, "restart": 8, "cap": 10, "pause": 7, "cancel": 5}

type Progress = Callable[[str], None]


@dataclass(frozen=True)
class SoakOptions:
    """`pace_seconds`: about so long from one blow to the next. `most_waiting`: more than so many jobs never wait."""

    minutes: float = 1.0
    processes: int = 4
    pace_seconds: float = 1.5
    most_waiting: int = 1_500
    seed: int | None = None


def run(lab: Lab, options: SoakOptions, progress: Progress = lambda text: None) -> Section:
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    section = Section(
        "soak",
        f"{options.minutes:g} minutes, {options.processes} processes of {THREADS} threads, seed {seed}",
        target="nothing found: no job lost or stuck, no cap or pause broken, none ended by a worker that no longer owned it",
    )
    with lab.database() as url, ExitStack() as stack:
        soak = Soak(lab, url, options, random.Random(seed), progress)  # noqa: S311 - chooses blows, guards nothing
        stack.callback(soak.end)
        soak.strike_for(options.minutes * 60)
        soak.calm_down()
        findings = soak.findings()
        section.rows.append({**soak.figures(), "found": len(findings), "ok": not findings})
        section.notes += findings[:50]
    return section


@dataclass
class _Slot:
    """A place for a worker; `number` names its log."""

    number: int
    child: Child | None = None
    continue_at: float | None = None  # monotonic time, when it is frozen


@dataclass
class _Pause:
    id: int
    lift_at: float


@dataclass
class Soak:
    """One soak: feeds, strikes, calms down, judges."""

    lab: Lab
    url: str
    options: SoakOptions
    rng: random.Random
    progress: Progress
    done: Counter[str] = field(default_factory=Counter)
    enqueued: dict[str, str] = field(default_factory=dict)  # id → type
    slots: list[_Slot] = field(default_factory=list)
    pauses: list[_Pause] = field(default_factory=list)
    started_children: int = 0

    # --- The course --------------------------------------------------------------------------------------------------

    def strike_for(self, seconds: float) -> None:
        self.slots = [_Slot(number) for number in range(self.options.processes)]
        until = time.monotonic() + seconds
        strike_at = time.monotonic() + 2
        while time.monotonic() < until:
            self._keep_running()
            with suppress(psycopg.OperationalError, psycopg.InterfaceError), self._connection() as connection:
                self._feed(connection)
                self._lift_due(connection)
            if time.monotonic() >= strike_at:
                self._strike(self.rng.choices(list(_CHAOS), list(_CHAOS.values()))[0])
                strike_at = time.monotonic() + self.rng.uniform(0.3, 1.7) * self.options.pace_seconds
            time.sleep(0.1)

    def calm_down(self) -> None:
        """Takes every hindrance away and waits until nothing is left to do. What is left then is found by `findings`."""
        with self._connection() as connection:
            connection.execute("UPDATE queue_pause SET lifted_at = clock_timestamp(), lifted_by = 'soak' "
                               "WHERE lifted_at IS NULL")  # fmt: skip
            connection.execute("DELETE FROM tenant_setting")
            least, deadline = len(self.enqueued) + 1, time.monotonic() + LONGEST_STANDSTILL_SECONDS
            while time.monotonic() < deadline and (left := self._left(connection)):
                if left < least:
                    least, deadline = left, time.monotonic() + LONGEST_STANDSTILL_SECONDS
                self.progress(f"{left} jobs left")
                self._keep_running(thaw=True)
                self._hurry(connection)
                time.sleep(0.5)

    def end(self) -> None:
        for slot in self.slots:
            if slot.child is not None:
                with suppress(ProcessLookupError):
                    os.kill(slot.child.popen.pid, signal.SIGCONT)
                slot.child.close()

    # --- Work --------------------------------------------------------------------------------------------------------

    def _feed(self, connection: Connection) -> None:
        if self._left(connection) > self.options.most_waiting:
            return
        types = self.rng.choices(list(_MIX), list(_MIX.values()), k=20)
        jobs = [
            NewJob(kind, f"tenant-{self.rng.randrange(TENANTS)}", priority=self.rng.choice([0, 0, 5])) for kind in types
        ]
        ids = transitions.enqueue_many(jobs, actor=ACTOR, using=connection)
        self.enqueued.update(zip(ids, types, strict=True))
        if self.rng.random() < 0.3:  # another program's INSERT
            job_id = f"sql-{self.rng.getrandbits(64):016x}"
            self.enqueued[job_id] = STEADY
            try:
                connection.execute(
                    statements.text("soak_insert"), [job_id, STEADY, f"tenant-{self.rng.randrange(TENANTS)}"]
                )
            except psycopg.Error:
                # Whether it was committed is not known: it counts if it is there.
                del self.enqueued[job_id]
                raise

    def _hurry(self, connection: Connection) -> None:
        """Waits before retries are minutes long, and the lifetimes of the soak are not."""
        rows = connection.execute("SELECT id FROM \"PlatformJob\" WHERE status = 'RETRY_WAIT' LIMIT 500").fetchall()
        if rows:
            transitions.run_now([row[0] for row in rows], actor=ACTOR, reason="soak", using=connection)

    # --- Blows -------------------------------------------------------------------------------------------------------

    def _strike(self, blow: str) -> None:
        self.progress(blow)
        with suppress(psycopg.OperationalError, psycopg.InterfaceError, psycopg.errors.LockNotAvailable):
            getattr(self, f"_{blow}")()
            self.done[blow] += 1

    def _kill(self) -> None:
        for _, child in self._one_awake():
            child.popen.kill()

    def _term(self) -> None:
        for _, child in self._one_awake():
            child.popen.terminate()

    def _freeze(self) -> None:
        for slot, child in self._one_awake():
            os.kill(child.popen.pid, signal.SIGSTOP)
            slot.continue_at = time.monotonic() + FROZEN_SECONDS

    def _cut(self) -> None:
        with self._connection() as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename = current_user"
            )

    def _restart(self) -> None:
        if self.lab.server is not None:
            self.lab.server.crash()
            time.sleep(self.rng.uniform(0, 2))
            self.lab.server.start()

    def _cap(self) -> None:
        with self._connection() as connection:
            params = [f"tenant-{self.rng.randrange(TENANTS)}", self.rng.choice([0, 1, 2, 8])]
            connection.execute(statements.text("soak_cap"), params)

    def _pause(self) -> None:
        with self._connection() as connection:
            scope = self.rng.choice([(None, None), (STEADY, None), (None, "tenant-1")])
            row = connection.execute(statements.text("soak_pause"), scope).fetchone()
            self.pauses.append(_Pause(row[0] if row else 0, time.monotonic() + self.rng.uniform(1, 4)))

    def _cancel(self) -> None:
        with self._connection() as connection:
            rows = connection.execute(statements.text("soak_some"), [20]).fetchall()
            transitions.request_cancel([row[0] for row in rows], actor=ACTOR, reason="soak", using=connection)

    # --- Upkeep ------------------------------------------------------------------------------------------------------

    def _keep_running(self, *, thaw: bool = False) -> None:
        for slot in self.slots:
            if slot.child is not None and slot.child.popen.poll() is not None:
                slot.child.close_quickly()
                slot.child, slot.continue_at = None, None
            if slot.child is None:
                slot.child = self._new_child(slot)
            if slot.continue_at is not None and (thaw or time.monotonic() >= slot.continue_at):
                os.kill(slot.child.popen.pid, signal.SIGCONT)
                slot.continue_at = None

    def _new_child(self, slot: _Slot) -> Child:
        env = self.lab.environment(
            self.url,
            JOB_HANDLER_MODULES="jobs.bench.soak_handlers",
            JOB_STALE_TIMEOUT_MINUTES=str(STALE.total_seconds() / 60),
            JOB_WORKER_POLL_INTERVAL_MS="500",
            JOB_SHUTDOWN_GRACE_SECONDS="1",
        )
        self.started_children += 1
        return Child(worker_command(), env, self.lab.folder / f"soak-{slot.number}-{self.started_children}.log")

    def _lift_due(self, connection: Connection) -> None:
        now = time.monotonic()
        for pause in [pause for pause in self.pauses if pause.lift_at <= now]:
            connection.execute(
                "UPDATE queue_pause SET lifted_at = clock_timestamp(), lifted_by = 'soak' WHERE id = %s", [pause.id]
            )
            self.pauses.remove(pause)

    def _one_awake(self) -> list[tuple[_Slot, Child]]:
        """One that runs and is not frozen, at random; none if there is none."""
        awake = [(slot, slot.child) for slot in self.slots if slot.child is not None and slot.continue_at is None]
        return [self.rng.choice(awake)] if awake else []

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        with psycopg.connect(self.url, autocommit=True, connect_timeout=5, application_name="detiq-soak") as connection:
            connection.execute("SET lock_timeout = '5s'")
            yield connection

    def _left(self, connection: Connection) -> int:
        row = connection.execute(statements.text("soak_left")).fetchone()
        return int(row[0]) if row else 0

    # --- Judgement ---------------------------------------------------------------------------------------------------

    def figures(self) -> dict[str, int]:
        with self._connection() as connection:
            runs, lost = connection.execute(statements.text("soak_runs")).fetchone() or (0, 0)
        return {"jobs": len(self.enqueued), "runs": runs, "lost_runs": lost} | {
            blow: self.done[blow] for blow in _CHAOS
        }

    def findings(self) -> list[str]:
        """Whatever was not as it must be, in words."""
        terms = checker.Terms(TENANT_CAP, {"DISCOVER": 2}, STALE, slack=timedelta(seconds=90))
        with self._connection() as connection:
            found = [f"{one.kind}: {one.text} ({one.job_id})" for one in checker.check(connection, terms)]
            rows = connection.execute(statements.text("soak_ends"), [list(self.enqueued)]).fetchall()
        return [*found, *self._wrong_ends(rows)]

    def _wrong_ends(self, rows: Sequence[tuple[str, str, bool, bool]]) -> Iterator[str]:
        """`rows`: id, status, in the DLQ, whether anything but losses of its process stands in its history."""
        seen = {row[0] for row in rows}
        yield from (f"lost: {job_id} is not there any more" for job_id in self.enqueued if job_id not in seen)
        for job_id, status, dlq, failed_by_itself in rows:
            kind = self.enqueued[job_id]
            if status not in ENDED:
                yield f"stuck: {job_id} ({kind}) is {status}"
            if kind == KILLER and status == JobStatus.DONE:
                yield f"killer: {job_id} cannot be DONE"
            if kind in (STEADY, STUBBORN) and dlq and failed_by_itself:
                yield f"neighbour: {job_id} ({kind}) is in the DLQ for a failure of its own"


assert set(_MIX) == set(TYPES)  # noqa: S101 - every kind of job takes part
