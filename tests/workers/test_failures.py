"""From an error to its row: how long a job waits, how often it is tried, and what an operator's retry gives back."""

import errno
import logging
import random
from dataclasses import replace
from typing import Any

import pytest

from jobs.domain.failures import POLICIES, FailureType
from jobs.domain.outcomes import Completed, DeadLettered, RetryLater
from jobs.handlers import registry
from jobs.ledger import hooks
from jobs.models import AuditEntry
from jobs.operations import actions
from jobs.operations.actions import Person
from jobs.queue import transitions
from jobs.queue.liveness import Progress
from jobs.queue.status import queue_status
from jobs.workers import runner as runner_module
from jobs.workers.active import ActiveRun
from jobs.workers.judge import judge
from jobs.workers.link import Link
from jobs.workers.reports import Reports, run_logger
from jobs.workers.runner import Runner
from tests.queue.helpers import BOOM, claim_one, finish, history, insert, row, running

KIM = Person("kim")
ERRORS: dict[FailureType, BaseException] = {
    FailureType.TRANSIENT: TimeoutError("read timed out"),
    FailureType.INFRASTRUCTURE: MemoryError(),
    FailureType.LOGICAL: ValueError("invalid input"),
    FailureType.FATAL: ImportError("no module"),
}


class RateLimited(Exception):
    def __init__(self, text: str, retry_after: object = None) -> None:
        super().__init__(text)
        self.status_code = 429
        self.retry_after = retry_after


def fail(conn: Any, error: BaseException, id: str = "j", jitter: float = 0.0) -> dict[str, Any]:
    """Claims the job and lets its handler raise; returns the row."""
    job = claim_one(conn)
    assert job.run.job_id == id
    finish(conn, job.run, judge(job, error, job.run.started, jitter, random.Random(1)))
    return row(conn, id)


def waits(conn: Any, job: dict[str, Any]) -> float:
    """Seconds until its next attempt, by the database's clock at the failure."""
    return float((job["nextRetryAt"] - job["finishedAt"]).total_seconds())


# --- Delays -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [10, 30, 33, 38, 63, 64, 1023, 1024, 2_000_000_000])
@pytest.mark.parametrize("type_", [FailureType.TRANSIENT, FailureType.INFRASTRUCTURE, FailureType.LOGICAL])
def test_a_very_high_count_waits_the_longest_delay_and_overflows_nothing(
    conn: Any, monkeypatch: pytest.MonkeyPatch, type_: FailureType, count: int
) -> None:
    monkeypatch.setitem(POLICIES, type_, replace(POLICIES[type_], retries=2**31 - 1))
    insert(conn, "j", retryCount=count)
    job = fail(conn, ERRORS[type_])
    assert (job["status"], job["failureType"], job["retryCount"]) == ("RETRY_WAIT", type_, count + 1)
    assert abs(waits(conn, job) - POLICIES[type_].longest_delay_seconds) < 2


@pytest.mark.parametrize("corrupt", [-1, -100, -2_000_000_000])
def test_a_corrupt_count_is_taken_for_none_and_logged(conn: Any, corrupt: int, caplog: Any) -> None:
    insert(conn, "j", retryCount=corrupt)
    job = fail(conn, ERRORS[FailureType.TRANSIENT])
    assert job["retryCount"] == 1 and abs(waits(conn, job) - 30) < 2
    assert "job.retry_count_corrupt" in caplog.text


def test_no_job_waits_longer_than_any_rule_says_and_the_status_counts_those_that_do(conn: Any) -> None:
    insert(conn, "named")
    fail(conn, RateLimited("slow down", retry_after=7200), "named")
    insert(conn, "plain", tenantId="b")
    fail(conn, ERRORS[FailureType.INFRASTRUCTURE], "plain")
    assert queue_status(conn).overlong_waits == 0
    conn.execute("""UPDATE "PlatformJob" SET "nextRetryAt" = now() + interval '2 hours' WHERE id = 'plain'""")
    assert queue_status(conn).overlong_waits == 1
    conn.execute("""UPDATE "PlatformJob" SET "nextRetryAt" = now() + interval '9000 years' WHERE id = 'named'""")
    assert queue_status(conn).overlong_waits == 2


# --- Waits that the other side names ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (RateLimited("429 Too Many Requests", retry_after=3600), 3600),
        (RateLimited("429 Too Many Requests. Retry-After: 3600"), 3600),
        (RateLimited("Rate limit reached, try again in 2h"), 7200),
        (RateLimited("attribute wins over the text: try again in 2h", retry_after="600"), 600),
        (RateLimited("slow down", retry_after=10 * 365 * 86400), 86400),
    ],
)
def test_a_named_wait_is_waited_for(conn: Any, error: BaseException, seconds: int) -> None:
    insert(conn, "j")
    job = fail(conn, error, jitter=0.1)
    assert (job["status"], job["failureType"]) == ("RETRY_WAIT", "TRANSIENT")
    assert seconds - 1 <= waits(conn, job) <= seconds * 1.1 + 1
    (reason,) = conn.execute("SELECT reason FROM job_history WHERE to_status = 'RETRY_WAIT'").fetchone()
    assert "the other side named the wait" in reason


@pytest.mark.parametrize("named", [-3600, "-1", "soon", float("nan")])
def test_a_named_wait_that_makes_no_sense_leaves_the_types_own(conn: Any, named: object) -> None:
    insert(conn, "j")
    assert abs(waits(conn, fail(conn, RateLimited("slow down", retry_after=named))) - 30) < 2


def test_closed_windows_do_not_end_a_job_that_a_few_faults_would(conn: Any) -> None:
    insert(conn, "j")
    for attempt in range(1, 21):
        job = fail(conn, RateLimited("slow down", retry_after=3600))
        assert (job["status"], job["retryCount"]) == ("RETRY_WAIT", attempt)
        transitions.run_now(["j"], actor="kim", reason="x", using=conn)
    job = fail(conn, RateLimited("slow down", retry_after=3600))
    assert (job["status"], job["dlq"]) == ("FAILED", True), "for ever would be too long"


def test_short_named_waits_have_no_more_retries_than_others(conn: Any) -> None:
    insert(conn, "j", retryCount=5)
    assert fail(conn, RateLimited("slow down", retry_after=1))["dlq"]


def test_what_is_our_own_fault_is_not_retried_for_a_named_wait(conn: Any) -> None:
    insert(conn, "j", retryCount=1)
    error = ValueError("invalid input; retry after 3600 seconds")
    assert fail(conn, error)["dlq"]


# --- An operator's retry ----------------------------------------------------------------------------------------------
def test_a_retry_by_hand_starts_the_count_and_the_delays_again_and_success_leaves_no_trace(conn: Any) -> None:
    insert(conn, "j", retryCount=5)
    dead = fail(conn, ERRORS[FailureType.TRANSIENT])
    assert (dead["status"], dead["dlq"]) == ("FAILED", True)
    actions.retry(KIM, ["j"], "the site is back")
    back = row(conn, "j")
    assert (back["status"], back["dlq"], back["retryCount"]) == ("QUEUED", False, 0)
    assert (back["dlqAt"], back["dlqReason"], back["nextRetryAt"], back["workerId"], back["error"]) == (None,) * 5
    again = fail(conn, ERRORS[FailureType.TRANSIENT])
    assert (again["status"], again["dlq"], again["retryCount"]) == ("RETRY_WAIT", False, 1)
    assert abs(waits(conn, again) - 30) < 2, "the first delay, not the sixth"
    transitions.run_now(["j"], actor="kim", reason="x", using=conn)
    finish(conn, claim_one(conn).run, Completed("1"))
    done = row(conn, "j")
    assert (done["status"], done["dlq"], done["error"], done["failureType"], done["dlqReason"]) == (
        "DONE", False, None, None, None,
    )  # fmt: skip
    entry = AuditEntry.objects.get(action="retry")
    assert (entry.actor, entry.target, entry.reason) == ("kim", "j", "the site is back")


# --- A row that is gone -----------------------------------------------------------------------------------------------
def test_nothing_puts_back_a_row_that_was_deleted_while_its_job_ran(conn: Any) -> None:
    for end in (Completed("1"), DeadLettered(BOOM)):
        run = running(conn, "k")
        conn.execute("""DELETE FROM "PlatformJob" WHERE id = 'k'""")
        answer = finish(conn, run, end)
        assert (answer.changed, answer.found) == (False, None)
        assert conn.execute('SELECT count(*) FROM "PlatformJob"').fetchone() == (0,)
    assert history(conn, "k")[-1] == ("RUNNING", None)


class Nameless(type):
    instead: BaseException

    def __getattribute__(cls, name: str) -> Any:
        if name == "__qualname__":
            raise cls.instead
        return super().__getattribute__(name)


class Unjudgeable(Exception, metaclass=Nameless):
    pass


@pytest.mark.parametrize("instead", [RuntimeError("I have no name"), SystemExit(1)])
def test_an_error_that_cannot_be_judged_ends_its_run_too(
    conn: Any, monkeypatch: pytest.MonkeyPatch, instead: BaseException
) -> None:
    """Unsaid, the run would beat for as long as its worker lives, or for ever if its thread died of it."""
    monkeypatch.setattr(Unjudgeable, "instead", instead, raising=False)
    insert(conn, "j")
    job = claim_one(conn)
    reports = Reports("w1")
    runner = Runner(reports, Link(lambda name: conn, "test"), 0.0, random.Random(1))
    outcome = runner.raised(ActiveRun(job), Unjudgeable())
    assert isinstance(outcome, RetryLater) and "could not be judged" in outcome.failure.error


@pytest.mark.parametrize(
    ("version", "wrote", "begins_with"), [("1", "1", [3]), ("2", "1", None), ("2", None, [3]), (None, "1", [3])]
)
def test_a_handler_never_sees_a_checkpoint_that_another_version_wrote(
    conn: Any, monkeypatch: pytest.MonkeyPatch, version: str | None, wrote: str | None, begins_with: Any
) -> None:
    for name in ("_handlers", "_versions"):
        monkeypatch.setattr(registry, name, {})
    saw: list[Any] = []

    @registry.handler("OTHER", version=version)
    def run(job: Any) -> None:
        saw.append(job.checkpoint)
        job.save_checkpoint([4])

    insert(conn, "j", type="OTHER", checkpoint="[3]", checkpointVersion=wrote)
    active, reports = ActiveRun(claim_one(conn)), Reports("w1")
    Runner(reports, Link(lambda name: conn, "test"), 0.0, random.Random(1)).run_here(active)
    reports.write(Link(lambda name: conn, "test"))
    assert saw == [begins_with] and row(conn, "j")["checkpointVersion"] == version
    said = conn.execute("SELECT message FROM job_log").fetchall()
    assert ("so the job starts over" in str(said)) == (begins_with is None)


def test_a_log_line_that_does_not_fit_its_values_does_not_end_the_job(
    conn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("jobs.run"), "propagate", False)  # the test run's own handler does raise
    insert(conn, "j")
    reports = Reports("w1")
    run_logger(ActiveRun(claim_one(conn)), reports).warning("%d of %s pages", "three")
    reports.write(Link(lambda name: conn, "test"))
    assert conn.execute("SELECT message FROM job_log").fetchone()[0].startswith("%d of %s pages")


def test_what_a_handler_reports_waits_for_a_locked_row_and_holds_up_no_log_line(conn: Any, make_conn: Any) -> None:
    reports, link = Reports("w1"), Link(lambda name: make_conn(), "test", lock_timeout="20ms")
    insert(conn, "j")
    active = ActiveRun(claim_one(conn))
    other = make_conn()
    other.execute("BEGIN; LOCK TABLE job_log IN ACCESS EXCLUSIVE MODE; UPDATE \"PlatformJob\" SET name = 'mine'")
    reports.progress(Progress(active.run, 40, "page 4"))
    run_logger(active, reports).info("page 4")
    reports.write(link)
    other.execute("ROLLBACK; BEGIN; UPDATE \"PlatformJob\" SET name = 'mine'")
    reports.write(link)
    assert conn.execute("SELECT message FROM job_log").fetchall() == [("page 4",)] and row(conn, "j")["progress"] == 0
    other.execute("ROLLBACK")
    reports.write(link)
    link.close()
    assert row(conn, "j")["progress"] == 40


def test_a_job_for_which_no_process_can_be_made_waits_for_a_better_time(
    conn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_process(active: ActiveRun) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(runner_module, "run_isolated", no_process)
    insert(conn, "j", lostCount=1)
    outcome = Runner(Reports("w1"), Link(lambda name: conn, "test"), 0.0, random.Random(1)).run(
        ActiveRun(claim_one(conn))
    )
    assert isinstance(outcome, RetryLater) and outcome.failure.failure_type == "INFRASTRUCTURE"


@pytest.mark.parametrize("kind", ["async", "yield", "async yield", "a coroutine's caller"])
def test_what_only_promises_to_work_is_never_taken_for_done(
    conn: Any, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for name in ("_handlers", "_versions"):
        monkeypatch.setattr(registry, name, {})

    async def coroutine(job: Any) -> int:
        return 1

    def generator(job: Any) -> Any:
        yield 1

    async def both(job: Any) -> Any:
        yield 1

    function = {"async": coroutine, "yield": generator, "async yield": both}.get(kind)
    if function is not None:
        with pytest.raises(TypeError, match="the handler of OTHER, must be a plain function"):
            registry.handler("OTHER")(function)
        with pytest.raises(TypeError, match="the handler of saved, must be a plain function"):
            hooks.hook("saved")(function)
        return
    registry.handler("OTHER")(lambda job: coroutine(job))
    insert(conn, "j", type="OTHER")
    runner = Runner(Reports("w1"), Link(lambda name: conn, "test"), 0.0, random.Random(1))
    outcome = runner.run_here(ActiveRun(claim_one(conn)))
    assert isinstance(outcome, RetryLater | DeadLettered) and "returned a coroutine" in outcome.failure.error


@pytest.mark.parametrize(
    "name", ["", " ", "A\0B", "\ud800", None, 7, test_a_handler_never_sees_a_checkpoint_that_another_version_wrote]
)
def test_a_handler_is_registered_for_the_name_of_a_type_alone(name: Any) -> None:
    with pytest.raises(TypeError, match="not for"):
        registry.handler(name)
