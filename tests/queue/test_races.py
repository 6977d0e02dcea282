"""Two at once on the same job or key: one outcome, said to both."""

import random
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from jobs.domain.errors import DuplicateJob
from jobs.domain.outcomes import Completed, Ended
from jobs.models import Job
from jobs.queue import transitions
from jobs.queue.sweep import Sweep
from tests.queue.helpers import claim, finish, history, insert, row, running
from tests.together import at_once

WHO: dict[str, Any] = {"actor": "kim", "reason": "because"}
HOUR = timedelta(hours=1)


# --- An end and a cancel ----------------------------------------------------------------------------------------------
def test_an_end_and_a_cancel_at_the_same_moment_leave_one_end(conn: Any, make_conn: Any) -> None:
    """The documented rule: a result is kept, with a note when the request came first; later the job has ended already."""
    times = 500
    conn.execute(
        """INSERT INTO "PlatformJob" (id, "tenantId", type, config)
           SELECT 'j' || n, 'acme', 'CRAWL', '{}' FROM generate_series(1, %s) n""",
        [times],
    )
    runs = [job.run for job in claim(conn, times, tenant_cap=times).jobs]
    assert len(runs) == times
    barrier = threading.Barrier(2)
    ends, cancels = [], []
    mine, theirs = make_conn(), make_conn()

    def end() -> None:
        for run in runs:
            barrier.wait(30)
            ends.append(transitions.finish("w1", [Ended(run, Completed("1"))], mine)[0])

    def cancel() -> None:
        for run in runs:
            barrier.wait(30)
            cancels.append(transitions.request_cancel([run.job_id], **WHO, using=theirs)[0])

    at_once(end, cancel)
    assert all(answer.changed and answer.now == "DONE" for answer in ends)
    first = {answer.job_id for answer in cancels if answer.changed}
    assert all((answer.found, answer.now) in (("RUNNING", "CANCEL_REQUESTED"), ("DONE", None)) for answer in cancels)
    assert 0 < len(first) < times, "both orders happened"
    noted = conn.execute("SELECT job_id FROM job_history WHERE reason = 'finished before the cancel was seen'")
    assert {id for (id,) in noted.fetchall()} == first
    ended = conn.execute(
        "SELECT count(*), count(DISTINCT job_id) FROM job_history WHERE to_status IN ('DONE', 'CANCELLED', 'FAILED')"
    )
    assert ended.fetchone() == (times, times)
    assert conn.execute("""SELECT DISTINCT status FROM "PlatformJob" """).fetchall() == [("DONE",)]


def test_a_claim_and_a_cancel_at_the_same_moment(conn: Any, make_conn: Any) -> None:
    """Running and asked to stop, or cancelled and never run."""
    mine, theirs = make_conn(), make_conn()
    for n in range(100):
        insert(conn, f"j{n}", tenantId=f"t{n}")
    barrier = threading.Barrier(2)
    claimed: set[str] = set()

    def claims() -> None:
        for _ in range(100):
            barrier.wait(30)
            claimed.update(job.run.job_id for job in claim(mine, 1).jobs)

    def cancels() -> None:
        for n in range(100):
            barrier.wait(30)
            transitions.request_cancel([f"j{n}"], **WHO, using=theirs)

    at_once(claims, cancels)
    for n in range(100):
        job = row(conn, f"j{n}")
        assert job["status"] == ("CANCEL_REQUESTED" if f"j{n}" in claimed else "CANCELLED"), job


# --- Unique keys ------------------------------------------------------------------------------------------------------
def test_of_many_that_enqueue_one_key_at_once_one_succeeds_and_the_others_name_it(conn: Any, make_conn: Any) -> None:
    made: list[str] = []
    refused: list[str] = []
    barrier = threading.Barrier(25)

    def enqueue(mine: Any) -> Callable[[], None]:
        def work() -> None:
            barrier.wait(30)
            for _ in range(2):
                try:
                    made.append(
                        transitions.enqueue(
                            type="CRAWL", tenant_id="t", unique_key="discover:P", actor="kim", using=mine
                        )
                    )
                except DuplicateJob as error:
                    refused.append(error.holder)

        return work

    at_once(*(enqueue(make_conn()) for _ in range(25)))
    assert len(made) == 1 and refused == made * 49
    assert conn.execute("""SELECT count(*) FROM "PlatformJob" """).fetchone() == (1,)


def test_the_second_waits_for_the_first_and_is_told_of_its_job(conn: Any, make_conn: Any) -> None:
    first = make_conn()
    first.autocommit = False
    id = transitions.enqueue(type="CRAWL", tenant_id="t", unique_key="k", actor="kim", using=first)
    second = make_conn()
    answer: list[str] = []

    def enqueue() -> None:
        with pytest.raises(DuplicateJob) as refused:
            transitions.enqueue(type="CRAWL", tenant_id="t", unique_key="k", actor="kim", using=second)
        answer.append(refused.value.holder)

    thread = threading.Thread(target=enqueue)
    thread.start()
    thread.join(0.3)
    assert thread.is_alive(), "it cannot know yet"
    first.commit()
    thread.join(10)
    assert answer == [id]


@pytest.mark.parametrize("waiting", [{"nextRetryAt": datetime(2020, 1, 1, tzinfo=UTC)}, {"error": "old"}])
def test_a_key_that_is_held_keeps_one_job_waiting_and_none_of_the_others(conn: Any, waiting: dict[str, Any]) -> None:
    """Rows of other programs that failed; one of them has a key that a running job holds, and a twin."""
    run = running(conn, "holder", uniqueKey="k", tenantId="z")
    for n in range(99):
        insert(conn, f"j{n:02}", status="FAILED", **waiting)
    insert(conn, "twin1", status="FAILED", uniqueKey="k", **waiting)
    insert(conn, "twin2", status="FAILED", uniqueKey="k", **waiting)
    with pytest.raises(psycopg.errors.UniqueViolation):
        insert(conn, "never", status="RETRY_WAIT", uniqueKey="k")
    sweeper = Sweep(conn, HOUR, HOUR, 0.1, random.Random(1))
    sweeper.full()
    left = "SELECT id FROM \"PlatformJob\" WHERE status = 'FAILED' ORDER BY id"
    assert conn.execute(left).fetchall() == [("twin1",), ("twin2",)]
    assert conn.execute("SELECT error FROM sweep_duty WHERE error IS NOT NULL").fetchall() == []
    finish(conn, run, Completed())
    sweeper.full()
    assert conn.execute(left).fetchall() == [("twin2",)]


# --- Lost updates -----------------------------------------------------------------------------------------------------
def test_a_job_read_by_a_page_cannot_be_saved_over_what_happened_since(conn: Any) -> None:
    insert(conn, "j")
    read = Job.objects.get(id="j")
    finish(conn, claim(conn).jobs[0].run, Completed('{"pages": 3}'))
    before = row(conn, "j")
    read.priority = 9
    with pytest.raises(RuntimeError, match="never by save"):
        read.save()
    with pytest.raises(RuntimeError, match="never by save"):
        read.save(update_fields=["priority"])
    assert row(conn, "j") == before and history(conn, "j")[-1] == ("RUNNING", "DONE")


# --- A retry and a new job of the same key ------------------------------------------------------------------------------
def test_a_retry_that_meets_a_new_job_of_its_key_names_it_and_moves_the_others(conn: Any, make_conn: Any) -> None:
    for id, key in (("dead", "discover:P"), ("other", None)):
        insert(conn, id, status="FAILED", dlq=True, dlqAt="2026-01-01", finishedAt="2026-01-01", uniqueKey=key)
    rival = make_conn()
    rival.autocommit = False
    insert(rival, "new", uniqueKey="discover:P")
    answers: list[Any] = []
    mine = make_conn()

    def retry() -> None:
        answers.extend(transitions.retry(["dead", "other"], **WHO, using=mine))

    thread = threading.Thread(target=retry)
    thread.start()
    thread.join(1)
    assert thread.is_alive(), "it waits for what becomes of the new one"
    rival.commit()
    thread.join(20)
    found = {answer.job_id: answer for answer in answers}
    assert found["other"].changed and not found["dead"].changed
    assert row(conn, "dead")["status"] == "FAILED" and row(conn, "other")["status"] == "QUEUED"
