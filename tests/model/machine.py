"""Drives the door and the model side by side, in any order that Hypothesis thinks of, and compares after every step.

Nothing is waited for: what should become due has its stored time moved.
"""

import json
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from jobs.domain.errors import DuplicateJob, RunLost, TransitionRefused
from jobs.domain.failures import FailureType
from jobs.domain.outcomes import (
    Cancelled,
    ClaimedJob,
    ClaimRequest,
    Completed,
    DeadLettered,
    Ended,
    Outcome,
    Released,
    RetryLater,
    Run,
)
from jobs.queue import checker, liveness, pauses, transitions
from jobs.queue.pauses import PauseNotFound
from jobs.queue.sweep import Sweep
from jobs.workers.judge import judged
from tests.database import reset_database
from tests.model.compare import Moments, compare_gate, compare_history, compare_jobs, compare_tallies
from tests.model.reference import (
    COLUMNS,
    JITTER,
    NOW,
    STALE,
    Cap,
    Held,
    Job,
    Pause,
    Queue,
    Request,
    Text,
    Within,
    retries_left,
)

TENANTS = st.sampled_from(["a", "b", "c"])
TYPES = st.sampled_from(["CRAWL", "DISCOVER", "OTHER"])
PROJECTS = st.sampled_from([None, None, "p", "q"])
WORKERS = st.sampled_from(["w1", "w1", "w2"])
KEYS = st.sampled_from([None, None, None, "k1", "k2"])
PICK = st.integers(0, 10_000)
PRIORITIES = st.sampled_from([0, 0, 0, 5, -1])
DEFAULTS = {"DISCOVER": 2}
SQL = Text("sql:")
WHO: dict[str, Any] = {"actor": "kim", "reason": "because"}
HOUR = timedelta(hours=1)
# Whether the choice of a claim of several jobs is compared exactly too: off until the fault that is marked in
# test_claim_batches.py is mended.
EXACT_BATCHES = True


class QueueMachine(RuleBasedStateMachine):
    """`conn` is set by the test, before a machine is made."""

    conn: Any = None

    def __init__(self) -> None:
        super().__init__()
        reset_database()
        self.model = Queue()
        self.claims: list[ClaimedJob] = []
        self.runs: list[Run] = []
        self.last_history = 0
        self.names = 0
        self.rng = random.Random(1)
        self.sweep = Sweep(self.conn, STALE, timedelta(hours=10), JITTER, self.rng)
        self.moments = Moments(self.now(), self.now())
        self.compare()

    # --- Comparing ----------------------------------------------------------------------------------------------------

    def now(self) -> datetime:
        moment = self.conn.execute("SELECT clock_timestamp()").fetchone()[0]
        assert isinstance(moment, datetime)
        return moment

    def do[T](self, what: Callable[[], T]) -> T:
        """The real operation; remembers between which moments it happened."""
        before = self.now()
        answer = what()
        self.moments = Moments(before, self.now())
        return answer

    def compare(self) -> None:
        compare_jobs(self.conn, self.model, self.moments)
        self.last_history = compare_history(self.conn, self.model, self.last_history)
        compare_tallies(self.conn, self.model)
        compare_gate(self.conn, self.model)

    def teardown(self) -> None:
        terms = checker.Terms(4, DEFAULTS, STALE, slack=timedelta(days=1))
        assert checker.check(self.conn, terms) == []

    def new_id(self) -> str:
        self.names += 1
        return f"sql-{self.names:04}"

    def pick(self, number: int, *states: str) -> Job | None:
        """One of the jobs in these states, all if none is named."""
        jobs = [job for job in self.model.jobs.values() if not states or job.state in states]
        return jobs[number % len(jobs)] if jobs else None

    def any_id(self, number: int, *states: str) -> str:
        """Most often one that exists."""
        job = self.pick(number, *states) or self.pick(number)
        return job.id if job else "nobody"

    def write(self, text: str, *params: Any) -> None:
        """Plain SQL, as another program."""
        self.do(lambda: self.conn.execute(text, params))

    # --- New jobs -----------------------------------------------------------------------------------------------------

    @rule(
        tenant=TENANTS,
        type_=TYPES,
        project=PROJECTS,
        key=KEYS,
        priority=PRIORITIES,
        delayed=st.sampled_from([None, None, 3600]),
    )
    def enqueue(
        self, tenant: str, type_: str, project: str | None, key: str | None, priority: int, delayed: float | None
    ) -> None:
        holder = self.model.holder(key)
        try:
            id = self.do(
                lambda: transitions.enqueue(
                    type=type_, tenant_id=tenant, project_id=project, config={"n": 1}, name="it", priority=priority,
                    submitted_by="kim", unique_key=key, delay_seconds=delayed, using=self.conn, **WHO,
                )
            )  # fmt: skip
        except DuplicateJob as error:
            assert error.holder == holder and holder is not None
        else:
            assert holder is None
            config = {"n": 1, "tenantId": tenant, "submittedBy": "kim"} | ({"projectId": project} if project else {})
            job = Job(id, tenant, type_, config, project, "it", priority=priority, submitted_by="kim", unique_key=key)
            job.next_retry_at = self._in(delayed)
            self.model.add(job, "kim", "because")
        self.compare()

    @initialize(jobs=st.lists(st.tuples(TENANTS, TYPES), min_size=3, max_size=6))
    def some_jobs(self, jobs: list[tuple[str, str]]) -> None:
        for tenant, type_ in jobs:
            self.insert(tenant, type_, 1)

    def _in(self, seconds: float | None) -> Any:
        return None if seconds is None else Within(seconds, seconds)

    @rule(tenant=TENANTS, type_=TYPES, n=st.integers(1, 3))
    def insert(self, tenant: str, type_: str, n: int) -> None:
        """What any program can write: four columns, several rows in one statement."""
        ids = [self.new_id() for _ in range(n)]
        self.write(
            """INSERT INTO "PlatformJob" (id, "tenantId", type, config) SELECT id, %s, %s, '{}' FROM unnest(%s::text[]) id""",
            tenant, type_, ids,
        )  # fmt: skip
        for id in ids:
            self.model.add(Job(id, tenant, type_, {}), SQL)
        self.compare()

    @rule(
        tenant=TENANTS,
        key=KEYS,
        what=st.sampled_from([
            {"status": "FAILED", "next_retry_at": -1},
            {"status": "FAILED", "next_retry_at": 1, "retry_count": 2},
            {"status": "FAILED", "error": "old"},
            {"status": "FAILED", "error": "old", "retry_count": 4, "worker_id": "node-1", "heartbeat_at": -1},
            {"status": "FAILED", "error": "old", "retry_count": 5},
            {"status": "FAILED", "error": "old", "failure_type": "LOGICAL", "retry_count": -3},
            {"status": "FAILED", "error": "old", "dlq": True, "dlq_at": -1, "next_retry_at": 1},
            {"status": "RETRY_WAIT", "error": "both", "dlq": True, "dlq_at": -1, "next_retry_at": 1},
            {"status": "RETRY_WAIT"},
            {"status": "CANCEL_REQUESTED"},
            {"status": "RUNNING", "queued_at": -1},
            {"status": "RUNNING", "worker_id": "node-1", "started_at": -1, "progress": 140, "result": {"step": 1}},
            {"status": "RUNNING", "worker_id": "node-1", "started_at": 0, "heartbeat_at": 0, "result": [1]},
            {"status": "RUNNING", "inline": True, "started_at": 0},
            {"status": "QUEUED", "worker_id": "node-1", "retry_count": 7, "dlq": True},
            {"status": "DONE", "dlq": True, "dlq_reason": "no"},
            {"status": "CANCELLED"},
            {"status": "ON_HOLD"},
        ]),
    )  # fmt: skip
    def left_by_others(self, tenant: str, key: str | None, what: dict[str, Any]) -> None:
        """Rows as other programs, older releases and two writers at once leave them. Times in hours from now."""
        if self.model.holder(key):
            key = key if what["status"] == "FAILED" else None
        now = self.now()
        what = {n: now + v * HOUR if n.endswith("_at") else v for n, v in what.items()}
        job = Job(self.new_id(), tenant, "OTHER", {}, unique_key=key, **what)
        given = {
            c: getattr(job, n) for c, n in COLUMNS.items() if n in {"id", "tenant_id", "type", "unique_key", *what}
        }
        given = {c: json.dumps(v) if c == "result" else v for c, v in given.items()}
        names, places = ", ".join(f'"{c}"' for c in given), ", ".join(["%s"] * len(given))
        self.write(f"""INSERT INTO "PlatformJob" (config, {names}) VALUES ('{{}}', {places})""", *given.values())
        self.model.add(job, SQL)
        self.compare()

    @rule(tenant=TENANTS, type_=TYPES, worker=WORKERS)
    def track(self, tenant: str, type_: str, worker: str) -> None:
        run = self.do(lambda: transitions.track(type=type_, tenant_id=tenant, worker=worker, using=self.conn)).run
        job = Job(run.job_id, tenant, type_, {"tenantId": tenant}, status="RUNNING", inline=True, worker_id=worker)
        job.started_at = job.heartbeat_at = NOW
        self.model.add(job, worker)
        self.runs.append(run)
        self.compare()
        assert job.started_at == run.started

    # --- Claims -------------------------------------------------------------------------------------------------------

    def _request(
        self, worker: str, slots: int, types: list[str], after: str, relief: float | None = None, strict: bool = False
    ) -> tuple[ClaimRequest, Request]:
        how = {"relief": relief, "strict": strict}
        return ClaimRequest(slots, types, 4, DEFAULTS, after, **how), Request(
            worker, slots, types, 4, DEFAULTS, after, **how
        )

    @rule(
        worker=WORKERS,
        slots=st.sampled_from([1, 1, 1, 2, 3, 4, 5, 8]),
        types=st.sampled_from([["CRAWL", "DISCOVER", "OTHER"], ["CRAWL", "DISCOVER", "OTHER"], ["CRAWL"], ["DISCOVER", "OTHER"]]),
        after=st.sampled_from(["", "a", "b", "c", "bb"]),
        relief=st.sampled_from([None, None, None, 0.0, 0.4, 0.99]),
        strict=st.sampled_from([False, False, False, True]),
    )  # fmt: skip
    def claim(self, worker: str, slots: int, types: list[str], after: str, relief: float | None, strict: bool) -> None:
        real, ask = self._request(worker, slots, types, after, relief, strict)
        turn = self.do(lambda: transitions.turn(worker, [], real, self.conn))
        assert not turn.contended
        self._compare_claim(turn.jobs, ask)

    @rule(worker=WORKERS, after=st.sampled_from(["", "a", "b"]))
    def claim_one(self, worker: str, after: str) -> None:
        """Often, so that much runs."""
        self.claim(worker, 1, ["CRAWL", "DISCOVER", "OTHER"], after, None, False)

    @rule(worker=WORKERS)
    def claim_many(self, worker: str) -> None:
        self.claim(worker, 4, ["CRAWL", "DISCOVER", "OTHER"], "", None, False)

    @rule(worker=WORKERS, number=PICK)
    def claim_job(self, worker: str, number: int) -> None:
        self.claim_this(self.any_id(number, "QUEUED"), worker)

    def claim_this(self, id: str, worker: str) -> None:
        real, ask = self._request(worker, 1, ["CRAWL"], "")
        job = self.do(lambda: transitions.claim_job(id, worker, real, self.conn))
        assert (job is not None) == self.model.claim_job(id, ask, self.moments.before)
        self._claimed([job] if job else [])

    def _compare_claim(self, claimed: list[ClaimedJob], ask: Request) -> None:
        ids = [job.run.job_id for job in claimed]
        if EXACT_BATCHES or ask.strict or 1 in (ask.slots, len(ask.types)):
            assert sorted(ids) == sorted(self.model.claim(ask, self.moments.before))
        else:
            self.model.claim_these(ids, ask, self.moments.before)
        self._claimed(claimed)

    def _claimed(self, claimed: list[ClaimedJob]) -> None:
        self.compare()
        for one in claimed:
            job = self.model.jobs[one.run.job_id]
            assert one.run == Run(job.id, job.worker_id, job.started_at)
            assert (one.tenant_id, one.project_id, one.type, one.retry_count) == (
                job.tenant_id, job.project_id, job.type, job.retry_count,
            )  # fmt: skip
            assert json.loads(one.config) == job.config
            assert (None if one.checkpoint is None else json.loads(one.checkpoint)) == job.checkpoint
        self.claims += claimed
        self.runs += [one.run for one in claimed]

    # --- Runs ---------------------------------------------------------------------------------------------------------

    def _run(self, number: int) -> Run:
        """One that goes on, or any that ever was: two of three times one that goes on."""
        live = [run for run in self.runs if self.model.ours(_held(run))]
        runs = live if live and number % 3 else self.runs
        return runs[number % len(runs)]

    @precondition(lambda self: self.runs)
    @rule(number=PICK, percent=st.integers(0, 100))
    def progress(self, number: int, percent: int) -> None:
        run = self._run(number)
        self.do(
            lambda: liveness.report_progress(run.worker or "", [liveness.Progress(run, percent, "page")], self.conn)
        )
        self.model.progress(_held(run), percent, "page")
        self.compare()

    @precondition(lambda self: self.runs)
    @rule(number=PICK, page=st.integers(0, 9))
    def checkpoint(self, number: int, page: int) -> None:
        run = self._run(number)

        def save() -> bool:
            try:
                liveness.save_checkpoint(run, json.dumps({"page": page}), self.conn)
            except RunLost:
                return False
            return True

        assert self.do(save) == self.model.checkpoint(_held(run), {"page": page})
        self.compare()

    @precondition(lambda self: self.runs)
    @rule(worker=WORKERS)
    def beat(self, worker: str) -> None:
        mine = [run for run in self.runs if run.worker == worker]
        self.do(lambda: liveness.beat(worker, mine, self.conn))
        self.model.beat([_held(run) for run in mine])
        self.compare()
        look = liveness.look(worker, mine, self.conn)
        assert look == {job.id: job.status for run in mine if (job := self.model.ours(_held(run)))}

    @precondition(lambda self: self.runs)
    @rule(number=PICK, result=st.sampled_from([None, {"pages": 3}, [1], "text"]))
    def done(self, number: int, result: Any) -> None:
        self._end(self._run(number), Completed(None if result is None else json.dumps(result)), "done", result=result)

    @precondition(lambda self: self.claims)
    @rule(number=PICK, failure_type=st.sampled_from(list(FailureType)))
    def fail(self, number: int, failure_type: FailureType) -> None:
        """As the worker judges it, from the job as it was claimed."""
        run = self._run(number)
        claimed = next((one for one in self.claims if one.run == run), self.claims[number % len(self.claims)])
        outcome = judged(claimed, "boom", failure_type, JITTER, self.rng)
        assert isinstance(outcome, RetryLater | DeadLettered)
        left = retries_left(failure_type.value, claimed.retry_count)
        assert isinstance(outcome, RetryLater if left else DeadLettered)
        end = {"error": "boom", "failure_type": failure_type.value, "fingerprint": outcome.failure.fingerprint}
        self._end(claimed.run, outcome, "failed", **end)

    @precondition(lambda self: self.runs)
    @rule(number=PICK)
    def stopped(self, number: int) -> None:
        self._end(self._run(number), Cancelled(), "cancelled")

    @precondition(lambda self: self.runs)
    @rule(worker=WORKERS)
    def shutdown(self, worker: str) -> None:
        """Everything that the worker holds, in one statement."""
        mine = [run for run in self.runs if run.worker == worker and self.model.ours(_held(run))]
        ends = [Ended(run, Released("it stops")) for run in mine]
        answers = self.do(lambda: transitions.finish(worker, ends, self.conn))
        assert all(answer.changed for answer in answers) and len(answers) == len(mine)
        for run in mine:
            self.model.finish(_held(run), "released", worker, "it stops")
        self.compare()

    @precondition(lambda self: self.runs)
    @rule(number=PICK, slots=st.integers(1, 3), after=st.sampled_from(["", "a", "b"]))
    def done_and_next(self, number: int, slots: int, after: str) -> None:
        """One turn: an end and a claim in one commit; the end's room is there for the claim."""
        run = self._run(number)
        worker = run.worker or "w1"
        real, ask = self._request(worker, slots, ["CRAWL", "DISCOVER", "OTHER"], after)
        turn = self.do(lambda: transitions.turn(worker, [Ended(run, Completed("1"))], real, self.conn))
        assert turn.ends[0].changed == self.model.finish(_held(run), "done", worker, result=1)
        self._compare_claim(turn.jobs, ask)

    def _end(self, run: Run, outcome: Outcome, kind: str, **end: Any) -> None:
        worker = run.worker or "w1"
        answer = self.do(lambda: transitions.finish(worker, [Ended(run, outcome)], self.conn))[0]
        assert answer.changed == self.model.finish(_held(run), kind, worker, outcome.reason or None, **end)
        self.compare()

    @rule(number=PICK, kind=st.sampled_from(["done", "released", "cancelled", "beat", "progress", "checkpoint"]))
    def a_lost_run_comes_back(self, number: int, kind: str) -> None:
        """Its job is run again by now, most often by the same worker, or has gone on in some other way."""
        live = [run for run in self.runs if self.model.ours(_held(run))]
        if live and number % 4:
            taken = live[number % len(live)]
            self.requeue_orphaned_jobs(taken.worker or "")
            self.claim_this(taken.job_id, taken.worker or "w1")
        lost = [run for run in self.runs if run.job_id in self.model.jobs and not self.model.ours(_held(run))]
        again = [run for run in lost if self.model.jobs[run.job_id].status in ("RUNNING", "CANCEL_REQUESTED")]
        if not lost:
            return
        run = (again or lost)[number % len(again or lost)]
        match kind:
            case "beat":
                self.do(lambda: liveness.beat(run.worker or "", [run], self.conn))
            case "progress":
                report = liveness.Progress(run, 90, "late")
                self.do(lambda: liveness.report_progress(run.worker or "", [report], self.conn))
            case "checkpoint":
                with pytest.raises(RunLost):
                    liveness.save_checkpoint(run, "{}", self.conn)
            case _:
                outcome = {"done": Completed("1"), "released": Released(), "cancelled": Cancelled()}[kind]
                answer = self.do(lambda: transitions.finish(run.worker or "", [Ended(run, outcome)], self.conn))[0]
                assert not answer.changed
        self.compare()

    @rule(number=PICK)
    def other_program_finishes(self, number: int) -> None:
        """Without a fence, and without tidying up."""
        if job := self.pick(number, "RUNNING", "CANCEL_REQUESTED"):
            self.write("""UPDATE "PlatformJob" SET status = 'DONE', "finishedAt" = now() WHERE id = %s""", job.id)
            reason = "finished before the cancel was seen" if job.status == "CANCEL_REQUESTED" else None

            def change() -> None:
                job.status, job.finished_at = "DONE", NOW

            self.model.move(job, change, SQL, reason)
            self.compare()

    # --- People -------------------------------------------------------------------------------------------------------

    @rule(number=PICK, other=PICK)
    def cancel(self, number: int, other: int) -> None:
        ids = [self.any_id(number, "QUEUED", "RETRY_WAIT", "RUNNING"), self.any_id(other)]
        self._move(transitions.request_cancel, ids, lambda id: self.model.cancel(id, **WHO))

    @rule(number=PICK)
    def force_cancel(self, number: int) -> None:
        ids = [self.any_id(number, "RUNNING", "CANCEL_REQUESTED")]
        self._move(transitions.force_cancel, ids, lambda id: self.model.force_cancel(id, **WHO))

    @rule(number=PICK, keep=st.booleans())
    def retry(self, number: int, keep: bool) -> None:
        ids = [self.any_id(number, "DEAD_LETTERED")]
        self._move(
            transitions.retry, ids, lambda id: self.model.retry(id, **WHO, keep_checkpoint=keep), keep_checkpoint=keep
        )

    @rule(number=PICK)
    def run_now(self, number: int) -> None:
        self._move(transitions.run_now, [self.any_id(number, "RETRY_WAIT")], lambda id: self.model.run_now(id, **WHO))

    @rule(number=PICK)
    def purge(self, number: int) -> None:
        ids = [self.any_id(number, "DONE", "CANCELLED", "FAILED", "DEAD_LETTERED")]
        self._move(transitions.purge, ids, lambda id: self.model.purge(id, **WHO))

    @precondition(lambda self: self.model.trash)
    @rule(number=PICK)
    def restore(self, number: int) -> None:
        id = list(self.model.trash)[number % len(self.model.trash)]
        self._move(transitions.restore, [id], lambda id: self.model.restore(id, **WHO))

    def _move(self, move: Callable[..., Any], ids: list[str], expect: Callable[[str], str | None], **more: Any) -> None:
        ids = list(dict.fromkeys(ids))
        found = {id: self.model.jobs[id].state if id in self.model.jobs else None for id in ids}
        answers = self.do(lambda: move(ids, using=self.conn, **WHO, **more))
        assert [(one.job_id, one.now) for one in answers] == [(id, expect(id)) for id in ids]
        if move is not transitions.restore:
            assert {one.job_id: one.found for one in answers} == found
        self.compare()

    @rule(number=PICK)
    def rerun(self, number: int) -> None:
        if job := self.pick(number):
            try:
                new_id = self.do(lambda: transitions.rerun(job.id, using=self.conn, **WHO))
            except TransitionRefused:
                assert not self.model.may_rerun(job.id)
            else:
                assert self.model.may_rerun(job.id)
                self.model.rerun(job.id, new_id, **WHO)
            self.compare()

    @rule(worker=WORKERS)
    def requeue_orphaned_jobs(self, worker: str) -> None:
        ids = self.do(lambda: transitions.requeue_orphaned_jobs(worker, using=self.conn, **WHO))
        assert sorted(ids) == sorted(self.model.requeue_orphaned(worker, **WHO))
        self.compare()

    # --- Pauses and caps ----------------------------------------------------------------------------------------------

    @rule(
        scope=st.sampled_from([{}, {"type": "CRAWL"}, {"tenant_id": "a"}, {"project_id": "p"}, {"type": "DISCOVER", "tenant_id": "b"}]),
        ends=st.booleans(),
    )  # fmt: skip
    def pause(self, scope: dict[str, str], ends: bool) -> None:
        seconds = 3600.0 if ends else None
        id = self.do(lambda: pauses.pause(reason="r", owner="kim", ends_in_seconds=seconds, using=self.conn, **scope))
        end = self.conn.execute("SELECT ends_at FROM queue_pause WHERE id = %s", [id]).fetchone()[0]
        self.model.pauses[id] = Pause(**scope, ends_at=end)
        self.model.flag = self.model.flag or not scope
        self.compare()

    @rule(number=PICK, everything=st.booleans())
    def lift(self, number: int, everything: bool) -> None:
        ids = [id for id, one in self.model.pauses.items() if not one.lifted]
        id = None if everything or not ids else ids[number % len(ids)]

        def lift() -> bool:
            try:
                pauses.lift(id, by="kim", reason="r", using=self.conn)
            except PauseNotFound:
                return False
            return True

        assert self.do(lift) == self.model.lift(id, self.moments.before)
        self.compare()

    @rule(on=st.booleans())
    def flag(self, on: bool) -> None:
        self.write(
            """INSERT INTO "SystemConfig" (key, value) VALUES ('queue.paused', %s)
               ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value""",
            str(on).lower(),
        )
        self.model.flag = on
        self.compare()

    @precondition(lambda self: any(one.ends_at and not one.lifted for one in self.model.pauses.values()))
    @rule(number=PICK)
    def a_pause_comes_to_its_end(self, number: int) -> None:
        ids = [id for id, one in self.model.pauses.items() if one.ends_at and not one.lifted]
        id, end = ids[number % len(ids)], self.now() - timedelta(seconds=1)
        self.write("UPDATE queue_pause SET created_at = %s, ends_at = %s WHERE id = %s", end - HOUR, end, id)
        self.model.pauses[id].ends_at = end
        self.compare()

    @rule(
        tenant=TENANTS,
        cap=st.sampled_from([0, 1, 2, 5, None, "unlimited"]),
        end=st.sampled_from([None, None, -1, 1]),
        before=st.sampled_from([None, 1, "unlimited"]),
    )
    def cap_of_tenant(self, tenant: str, cap: Any, end: int | None, before: Any) -> None:
        self._cap("tenant_setting", "tenant_id", tenant, self.model.tenants, cap, end, before)

    @rule(
        type_=TYPES,
        cap=st.sampled_from([0, 1, 3, None, "unlimited"]),
        end=st.sampled_from([None, None, -1, 1]),
        before=st.sampled_from([None, 1, "unlimited"]),
    )
    def cap_of_type(self, type_: str, cap: Any, end: int | None, before: Any) -> None:
        self._cap("type_setting", "type", type_, self.model.types, cap, end, before)

    def _cap(self, table: str, key: str, of: str, caps: dict[str, Cap], cap: Any, end: int | None, before: Any) -> None:
        ends_at = None if end is None else self.now() + end * HOUR
        number, unlimited = (None, True) if cap == "unlimited" else (cap, False)
        previous, previous_unlimited = (None, True) if before == "unlimited" else (before, False)
        self.write(
            f"""INSERT INTO {table} ({key}, cap, unlimited, ends_at, previous_cap, previous_unlimited, updated_by)
                VALUES (%s, %s, %s, %s, %s, %s, 'kim')
                ON CONFLICT ({key}) DO UPDATE SET cap = EXCLUDED.cap, unlimited = EXCLUDED.unlimited,
                    ends_at = EXCLUDED.ends_at, previous_cap = EXCLUDED.previous_cap,
                    previous_unlimited = EXCLUDED.previous_unlimited""",
            of, number, unlimited, ends_at, previous, previous_unlimited,
        )  # fmt: skip
        caps[of] = Cap(number, unlimited, ends_at, previous, previous_unlimited)
        self.compare()

    # --- Time, and the sweep ------------------------------------------------------------------------------------------

    @rule(number=PICK)
    def a_wait_comes_to_its_end(self, number: int) -> None:
        waiting = [job for job in self.model.jobs.values() if job.next_retry_at is not None]
        if waiting:
            job, due = waiting[number % len(waiting)], self.now() - timedelta(seconds=1)
            self.write('UPDATE "PlatformJob" SET "nextRetryAt" = %s WHERE id = %s', due, job.id)
            job.next_retry_at = due
            self.compare()

    @rule(number=PICK, worker=WORKERS)
    def a_worker_is_lost(self, number: int, worker: str) -> None:
        """All its runs have been silent for an hour."""
        silent = self.now() - HOUR
        self.write(
            """UPDATE "PlatformJob" SET "heartbeatAt" = %s
                WHERE "workerId" = %s AND status IN ('RUNNING', 'CANCEL_REQUESTED')""",
            silent, worker,
        )  # fmt: skip
        for job in self.model.jobs.values():
            if job.worker_id == worker and job.status in ("RUNNING", "CANCEL_REQUESTED"):
                job.heartbeat_at = silent
        self.compare()

    @rule(full=st.booleans())
    def sweeps(self, full: bool) -> None:
        self.do(self.sweep.full if full else self.sweep.light)
        (self.model.sweep_full if full else self.model.sweep_light)(self.moments.before)
        errors = self.conn.execute("SELECT name, error FROM sweep_duty WHERE error IS NOT NULL").fetchall()
        assert errors == []
        self.compare()


def _held(run: Run) -> Held:
    return Held(run.job_id, run.worker, run.started)
