"""Every row of the table of states, its guard, what it sets, and the history it leaves."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.domain.errors import DuplicateJob, InvalidInput, JobNotFound, TransitionRefused
from jobs.domain.new_job import NewJob
from jobs.domain.outcomes import Cancelled, Completed, DeadLettered, Ended, Failure, Released, RetryLater, Run
from jobs.queue import liveness, transitions
from tests.queue.helpers import BOOM, claim, claim_one, finish, history, insert, row, running

WHO = {"actor": "kim", "reason": "because"}


# --- New jobs ---------------------------------------------------------------------------------------------------------
def test_a_plain_insert_of_four_columns_is_a_queued_job(conn: Any) -> None:
    insert(conn, "j")
    job = row(conn, "j")
    assert (job["status"], job["priority"], job["retryCount"], job["dlq"], job["inline"]) == (
        "QUEUED",
        0,
        0,
        False,
        False,
    )
    assert job["queuedAt"] is not None and job["name"] == "" and job["progress"] == 0
    assert history(conn, "j") == [(None, "QUEUED")]


def test_enqueue_writes_into_config_what_node_handlers_read_there(conn: Any) -> None:
    id_ = transitions.enqueue(
        type="CRAWL", tenant_id="acme", project_id="p", submitted_by="kim", config={"url": "u"}, actor="kim", using=conn
    )
    assert row(conn, id_)["config"] == {"url": "u", "tenantId": "acme", "projectId": "p", "submittedBy": "kim"}


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("type", " ", "it is empty"),
        ("tenant_id", " ", "it is empty"),
        ("tenant_id", "a\0b", "cannot be stored"),
        ("name", "half \ud83d", "cannot be stored"),
        ("submitted_by", "\0", "cannot be stored"),
        ("tenant_id", "t" * 301, "longer than 300"),
        ("unique_key", "k" * 5000, "longer than 300"),
        ("priority", 2**31, "between"),
        ("priority", -(2**31), "between"),
        ("delay_seconds", float("nan"), "between"),
        ("delay_seconds", -1.0, "between"),
        ("delay_seconds", 1e300, "between"),
    ],
)
def test_enqueue_names_the_field_that_cannot_be_used(conn: Any, field: str, value: Any, says: str) -> None:
    asked = {"type": "CRAWL", "tenant_id": "acme"} | {field: value}
    for make in (lambda: transitions.enqueue(**asked, actor="kim", using=conn),
                 lambda: transitions.enqueue_many([NewJob(**asked)], actor="kim", using=conn)):  # fmt: skip
        with pytest.raises(InvalidInput, match=says):
            make()


def test_a_unique_key_held_by_an_active_job_is_refused_and_the_holder_named(conn: Any) -> None:
    first = transitions.enqueue(type="CRAWL", tenant_id="acme", unique_key="k", actor="kim", using=conn)
    with pytest.raises(DuplicateJob, match=first):
        transitions.enqueue(type="CRAWL", tenant_id="acme", unique_key="k", actor="kim", using=conn)
    transitions.request_cancel([first], **WHO, using=conn)
    assert transitions.enqueue(type="CRAWL", tenant_id="acme", unique_key="k", actor="kim", using=conn) != first


def test_a_rival_that_rolls_back_leaves_the_key_to_the_second(conn: Any, make_conn: Any) -> None:
    import threading

    rival = make_conn()
    rival.autocommit = False
    transitions.enqueue(type="CRAWL", tenant_id="acme", unique_key="k", actor="a", using=rival)
    made: list[str] = []
    second = threading.Thread(
        target=lambda: made.append(
            transitions.enqueue(type="CRAWL", tenant_id="acme", unique_key="k", actor="b", using=conn)
        )
    )
    second.start()
    second.join(0.3)
    assert second.is_alive(), "the second must wait for the rival's word"
    rival.rollback()
    second.join(5)
    assert len(made) == 1


def test_rerun_copies_config_exactly_and_names_the_origin(conn: Any) -> None:
    insert(
        conn, "j", status="DONE", config='{"id": 1970670598291982290, "big": 123456789012345678901234567890, "f": 0.1}'
    )
    copy = transitions.rerun("j", **WHO, using=conn)
    assert conn.execute('SELECT count(*) FROM "PlatformJob" a, "PlatformJob" b WHERE a.id = %s AND b.id = %s'
                        " AND a.config = b.config", ["j", copy]).fetchone() == (1,)  # fmt: skip
    assert row(conn, copy)["originId"] == "j" and row(conn, "j")["status"] == "DONE"


def test_rerun_of_a_running_job_is_refused(conn: Any) -> None:
    running(conn)
    with pytest.raises(TransitionRefused, match="already Running"):
        transitions.rerun("j", **WHO, using=conn)
    with pytest.raises(JobNotFound):
        transitions.rerun("nope", **WHO, using=conn)


def test_a_tracked_job_runs_at_once_and_is_ended_by_its_caller(conn: Any) -> None:
    run = transitions.track(type="IMPORT_TESTS", tenant_id="acme", worker="me:1:x", using=conn).run
    job = row(conn, run.job_id)
    assert (job["status"], job["inline"]) == ("RUNNING", True) and job["heartbeatAt"]
    assert finish(conn, run, Completed('{"n": 1}'), actor="me:1:x").now == "DONE"


# --- Runs -------------------------------------------------------------------------------------------------------------
def test_claim_keeps_what_the_last_attempt_left_and_clears_what_it_must(conn: Any) -> None:
    insert(
        conn, "j", error="old", failureType="TRANSIENT", checkpoint='{"page": 7}', result='{"a": 1}', progress=40,
        currentStep="half", finishedAt=datetime(2026, 1, 1, tzinfo=UTC), inline=True,
    )  # fmt: skip
    job = claim_one(conn)
    after = row(conn, "j")
    assert json.loads(job.checkpoint or "") == {"page": 7}
    assert (after["error"], after["failureType"], after["result"]) == ("old", "TRANSIENT", {"a": 1})
    assert (after["progress"], after["currentStep"], after["finishedAt"], after["inline"]) == (0, None, None, False)
    assert after["workerId"] == "w1" and after["startedAt"] == job.run.started


def test_done_clears_every_sign_of_failure(conn: Any) -> None:
    run = running(conn, error="old", failureType="TRANSIENT", fingerprint="v1:x")
    assert finish(conn, run, Completed('{"n": 12345678901234567890123}')).now == "DONE"
    job = row(conn, "j")
    assert (job["error"], job["failureType"], job["fingerprint"], job["workerId"], job["heartbeatAt"]) == (None,) * 5
    assert job["progress"] == 100 and job["result"] == {"n": 12345678901234567890123} and job["finishedAt"]


def test_a_failure_with_retries_left_waits_by_the_databases_clock(conn: Any) -> None:
    run = running(conn)
    finish(conn, run, RetryLater(BOOM, 30.0))
    job = row(conn, "j")
    assert (job["status"], job["error"], job["failureType"], job["retryCount"]) == (
        "RETRY_WAIT",
        "boom",
        "TRANSIENT",
        1,
    )
    now = conn.execute("SELECT clock_timestamp()").fetchone()[0]
    assert timedelta(seconds=25) < job["nextRetryAt"] - now <= timedelta(seconds=30)
    assert (job["workerId"], job["heartbeatAt"]) == (None, None) and job["finishedAt"]
    assert job["result"] == {"failureType": "TRANSIENT"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"step": "x"}', {"step": "x", "failureType": "TRANSIENT"}),
        ("null", {"failureType": "TRANSIENT"}),
        ("[1]", [1]),
        ('"text"', "text"),
    ],
)
def test_the_failure_type_is_merged_into_an_object_and_replaces_nothing_else(
    conn: Any, before: str, after: Any
) -> None:
    run = running(conn, result=before)
    finish(conn, run, RetryLater(BOOM, 30.0))
    assert row(conn, "j")["result"] == after


def test_the_dlq_is_entered_in_one_step(conn: Any) -> None:
    run = running(conn)
    finish(conn, run, DeadLettered(BOOM, "no retries left"))
    job = row(conn, "j")
    assert (job["status"], job["dlq"], job["dlqReason"], job["retryCount"]) == ("FAILED", True, "boom", 1)
    assert job["dlqAt"] and job["nextRetryAt"] is None
    assert history(conn, "j") == [(None, "QUEUED"), ("QUEUED", "RUNNING"), ("RUNNING", "FAILED")]


def test_release_does_not_count_the_attempt_and_keeps_the_checkpoint(conn: Any) -> None:
    run = running(conn, checkpoint='{"p": 1}')
    queued_at = row(conn, "j")["queuedAt"]
    finish(conn, run, Released("worker stops"))
    job = row(conn, "j")
    assert (job["status"], job["retryCount"], job["checkpoint"], job["queuedAt"]) == ("QUEUED", 0, {"p": 1}, queued_at)
    assert job["requeuedAt"] and (job["startedAt"], job["workerId"], job["finishedAt"]) == (None, None, None)


@pytest.mark.parametrize(
    ("outcome", "ends_as"),
    [
        (Completed("1"), "DONE"),
        (RetryLater(BOOM, 1.0), "CANCELLED"),
        (DeadLettered(BOOM), "CANCELLED"),
        (Cancelled(), "CANCELLED"),
        (Released(), "CANCELLED"),
    ],
)
def test_a_job_asked_to_cancel_ends_cancelled_unless_it_has_a_result(conn: Any, outcome: Any, ends_as: str) -> None:
    run = running(conn)
    transitions.request_cancel(["j"], **WHO, using=conn)
    assert row(conn, "j")["status"] == "CANCEL_REQUESTED"
    assert finish(conn, run, outcome).now == ends_as
    job = row(conn, "j")
    assert (job["workerId"], job["heartbeatAt"], job["retryCount"]) == (None, None, 0) and job["finishedAt"]
    if ends_as == "DONE":
        reason = conn.execute("SELECT reason FROM job_history WHERE job_id = 'j' ORDER BY id DESC LIMIT 1").fetchone()
        assert reason == ("finished before the cancel was seen",)


@pytest.mark.parametrize("outcome", [Completed("1"), RetryLater(BOOM, 1.0), DeadLettered(BOOM), Released()])
def test_a_worker_that_was_given_up_changes_nothing(conn: Any, outcome: Any) -> None:
    run = running(conn)
    conn.execute("""UPDATE "PlatformJob" SET status = 'QUEUED', "workerId" = NULL, "startedAt" = NULL""")
    second = claim_one(conn, worker="w2")
    before = row(conn, "j")
    answer = finish(conn, run, outcome)
    assert not answer.changed and answer.found == "RUNNING (the run of w2)"
    assert row(conn, "j") == before
    assert finish(conn, second.run, Completed("2"), actor="w2").changed


def test_the_same_worker_cannot_end_its_own_earlier_run(conn: Any) -> None:
    first = running(conn)
    conn.execute("""UPDATE "PlatformJob" SET status = 'QUEUED', "workerId" = NULL, "startedAt" = NULL""")
    claim_one(conn)
    assert not finish(conn, first, Completed("1")).changed


@pytest.mark.parametrize("outcome", [Completed("1"), RetryLater(BOOM, 1.0)])
def test_a_run_is_the_same_when_another_program_writes_its_start_back_in_milliseconds(conn: Any, outcome: Any) -> None:
    run = running(conn)
    conn.execute(
        """UPDATE "PlatformJob" SET "startedAt" = date_trunc('milliseconds', "startedAt"), "heartbeatAt" = NULL"""
    )
    assert liveness.look("w1", [run], conn) == {"j": "RUNNING"} and liveness.held_by("w1", [run], conn) == []
    liveness.beat("w1", [run], conn)
    assert row(conn, "j")["heartbeatAt"]
    liveness.report_progress("w1", [liveness.Progress(run, 40, "half")], conn)
    liveness.save_checkpoint(run, "{}", conn)
    assert row(conn, "j")["progress"] == 40
    assert finish(conn, run, outcome).changed


def test_an_end_of_a_job_that_is_gone_says_so(conn: Any) -> None:
    run = running(conn)
    conn.execute('DELETE FROM "PlatformJob"')
    answer = finish(conn, run, Completed("1"))
    assert (answer.changed, answer.found) == (False, None)


def test_a_corrupt_retry_count_is_counted_from_zero(conn: Any) -> None:
    run = running(conn, retryCount=-100)
    finish(conn, run, RetryLater(BOOM, 1.0))
    assert row(conn, "j")["retryCount"] == 1
    run = running(conn, id="k", retryCount=2_147_483_647)
    finish(conn, run, DeadLettered(BOOM))
    assert row(conn, "k")["retryCount"] == 2_147_483_647


def test_orphans_of_one_worker_are_put_back_and_nobody_elses(conn: Any) -> None:
    running(conn, "a", worker="gone")
    running(conn, "b", worker="alive")
    assert transitions.requeue_orphaned_jobs("gone", **WHO, using=conn) == ["a"]
    assert (row(conn, "a")["status"], row(conn, "a")["retryCount"], row(conn, "b")["status"]) == (
        "QUEUED",
        0,
        "RUNNING",
    )


# --- Operators --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("status", ["QUEUED", "RETRY_WAIT"])
def test_a_waiting_job_is_cancelled_at_once(conn: Any, status: str) -> None:
    insert(conn, "j", status=status)
    assert transitions.request_cancel(["j"], **WHO, using=conn)[0].now == "CANCELLED"
    assert row(conn, "j")["finishedAt"]


@pytest.mark.parametrize(
    ("status", "dlq", "found"),
    [
        ("DONE", False, "DONE"),
        ("CANCELLED", False, "CANCELLED"),
        ("FAILED", True, "DEAD_LETTERED"),
        ("ODD", False, "ODD"),
    ],
)
def test_what_has_ended_cannot_be_cancelled_and_the_answer_says_what_it_is(
    conn: Any, status: str, dlq: bool, found: str
) -> None:
    insert(conn, "j", status=status, dlq=dlq)
    before = row(conn, "j")
    (answer,) = transitions.request_cancel(["j"], **WHO, using=conn)
    assert (answer.found, answer.changed) == (found, False)
    assert isinstance(answer.refusal("cancel"), TransitionRefused)
    assert row(conn, "j") == before


def test_force_cancel_fences_the_run_off(conn: Any) -> None:
    run = running(conn)
    assert transitions.force_cancel(["j"], **WHO, using=conn)[0].now == "CANCELLED"
    assert not finish(conn, run, Completed("1")).changed
    assert row(conn, "j")["status"] == "CANCELLED"


def test_retry_gives_a_fresh_budget_and_keeps_the_error_in_the_history(conn: Any) -> None:
    run = running(conn, checkpoint='{"p": 3}', retryCount=5)
    finish(conn, run, DeadLettered(BOOM))
    assert transitions.retry(["j"], **WHO, using=conn)[0].now == "QUEUED"
    job = row(conn, "j")
    assert (job["dlq"], job["dlqAt"], job["dlqReason"], job["retryCount"], job["redriveCount"]) == (
        False,
        None,
        None,
        0,
        1,
    )
    assert (job["error"], job["failureType"], job["checkpoint"]) == (None, None, {"p": 3})
    kept = conn.execute("SELECT detail->>'error' FROM job_history WHERE job_id='j' AND to_status='FAILED'").fetchone()
    assert kept == ("boom",)


def test_retry_may_start_over(conn: Any) -> None:
    insert(conn, "j", status="FAILED", dlq=True, checkpoint='{"p": 3}')
    transitions.retry(["j"], **WHO, keep_checkpoint=False, using=conn)
    assert row(conn, "j")["checkpoint"] is None


def test_retry_of_many_leaves_out_a_duplicate_and_names_its_holder(conn: Any) -> None:
    for n in range(3):
        insert(conn, f"j{n}", status="FAILED", dlq=True)
    insert(conn, "dead", status="FAILED", dlq=True, uniqueKey="k")
    insert(conn, "alive", uniqueKey="k")
    answers = {a.job_id: a for a in transitions.retry(["j0", "j1", "j2", "dead"], **WHO, using=conn)}
    assert [answers[f"j{n}"].changed for n in range(3)] == [True] * 3
    assert (answers["dead"].changed, answers["dead"].holder) == (False, "alive")


def test_retry_twice_at_once_retries_once(conn: Any) -> None:
    insert(conn, "j", status="FAILED", dlq=True)
    first, second = (transitions.retry(["j", "j"], **WHO, using=conn) for _ in range(2))
    assert [a.changed for a in first] == [True] and [a.changed for a in second] == [False]
    assert row(conn, "j")["redriveCount"] == 1


def test_run_now_ends_the_wait_but_not_of_a_dead_letter(conn: Any) -> None:
    insert(conn, "j", status="RETRY_WAIT", nextRetryAt=datetime(2099, 1, 1, tzinfo=UTC))
    assert transitions.run_now(["j"], **WHO, using=conn)[0].now == "QUEUED"
    assert row(conn, "j")["nextRetryAt"] is None


def test_purge_and_restore_give_back_every_column(conn: Any) -> None:
    run = running(conn, config='{"n": 0.1000000000000000055511151231257827, "big": 1e400}', checkpoint='{"p": [1, 2]}')
    finish(conn, run, DeadLettered(Failure("böse\n💥", "FATAL", "v1:y")))
    before = row(conn, "j")
    text = conn.execute('SELECT config::text FROM "PlatformJob"').fetchone()
    assert transitions.purge(["j"], **WHO, using=conn)[0].now == "TRASH"
    assert conn.execute('SELECT count(*) FROM "PlatformJob"').fetchone() == (0,)
    assert transitions.restore(["j"], **WHO, using=conn)[0].now == "FAILED"
    assert row(conn, "j") == before and conn.execute('SELECT config::text FROM "PlatformJob"').fetchone() == text
    assert conn.execute("SELECT count(*) FROM job_trash").fetchone() == (0,)


def test_a_running_job_cannot_be_purged(conn: Any) -> None:
    running(conn)
    assert not transitions.purge(["j"], **WHO, using=conn)[0].changed


def test_the_json_value_null_is_given_back_as_such(conn: Any) -> None:
    """Not as NULL, which a config cannot be: one such job would keep all that are restored with it in the trash."""
    nulls = {"config": "null", "result": "null", "checkpoint": "null"}
    insert(conn, "j", status="DONE", finishedAt="2026-01-01", **nulls)
    insert(conn, "plain", status="DONE", finishedAt="2026-01-01", checkpoint="null")
    transitions.purge(["j", "plain"], **WHO, using=conn)
    assert [one.now for one in transitions.restore(["j", "plain"], **WHO, using=conn)] == ["DONE", "DONE"]
    columns = 'SELECT config::text, result::text, checkpoint::text FROM "PlatformJob" ORDER BY id'
    assert conn.execute(columns).fetchall() == [("null", "null", "null"), ("{}", None, "null")]


def test_restore_onto_an_id_that_is_taken_again_is_refused(conn: Any) -> None:
    insert(conn, "j", status="DONE")
    transitions.purge(["j"], **WHO, using=conn)
    insert(conn, "j")
    (answer,) = transitions.restore(["j"], **WHO, using=conn)
    assert not answer.changed and "taken" in (answer.found or "")


# --- History ----------------------------------------------------------------------------------------------------------
def test_the_history_says_who_and_why(conn: Any) -> None:
    insert(conn, "j")
    transitions.request_cancel(["j"], actor="kim", reason="duplicate", using=conn)
    assert conn.execute("SELECT actor, reason FROM job_history WHERE to_status = 'CANCELLED'").fetchone() == (
        "kim",
        "duplicate",
    )


def test_another_programs_change_is_in_the_history_by_its_login(conn: Any) -> None:
    insert(conn, "j")
    conn.execute("""UPDATE "PlatformJob" SET status = 'DONE' WHERE id = 'j'""")
    (actor,) = conn.execute("SELECT actor FROM job_history WHERE to_status = 'DONE'").fetchone()
    assert actor.startswith("sql:")


@pytest.mark.parametrize("first", ["a change of one row", "a claim"])
def test_many_rows_at_once_cost_what_each_costs_whatever_the_session_did_before(conn: Any, first: str) -> None:
    """A connection of a pool keeps its plans: what was right for one row must not compare ten thousand with each other."""
    conn.execute(
        """INSERT INTO "PlatformJob" (id, "tenantId", type, status) SELECT 'j' || n, 't', 'CRAWL', 'QUEUED'
             FROM generate_series(1, 12000) n"""
    )
    if first == "a claim":
        claim(conn, 1)
    else:
        conn.execute("""UPDATE "PlatformJob" SET status = 'CANCELLED' WHERE id = 'j1'""")
    with conn.transaction():
        conn.execute("SET LOCAL statement_timeout = '3s'")  # it takes a third of one, and took thirty
        conn.execute("""UPDATE "PlatformJob" SET status = 'CANCELLED', "finishedAt" = now() WHERE status = 'QUEUED'""")
    assert conn.execute("SELECT count(*) FROM job_history WHERE to_status = 'CANCELLED'").fetchone()[0] >= 11_999


def test_another_program_may_fail_any_number_of_jobs_at_once_with_any_error(conn: Any) -> None:
    """What is told of them must not be put together in one value: that has a limit of 256 MB."""
    conn.execute(
        """INSERT INTO "PlatformJob" (id, "tenantId", type, status) SELECT 'j' || n, 't', 'CRAWL', 'QUEUED'
             FROM generate_series(1, 34000) n"""
    )
    conn.execute(
        """UPDATE "PlatformJob" SET status = 'FAILED', dlq = true, "dlqAt" = now(), "finishedAt" = now(),
                                    error = repeat(U&'\\+01F600', 2000)"""
    )
    assert conn.execute("SELECT count(*) FROM notice_due").fetchone() == (34_000,)
    assert conn.execute("SELECT sum(dead), sum(n) FROM failure_delta").fetchone() == (34_000, 0)


def test_what_changes_no_state_leaves_no_history(conn: Any) -> None:
    running(conn)
    conn.execute("""UPDATE "PlatformJob" SET "heartbeatAt" = now(), progress = 5, "currentStep" = 'x'""")
    assert len(history(conn, "j")) == 2


def test_one_door_call_does_not_sign_the_next_change(conn: Any) -> None:
    insert(conn, "a")
    with conn.transaction():
        transitions.request_cancel(["a"], actor="kim", reason="duplicate", using=conn)
    insert(conn, "b")
    (actor,) = conn.execute("SELECT actor FROM job_history WHERE job_id = 'b'").fetchone()
    assert actor.startswith("sql:")


@pytest.mark.parametrize("table", ["job_history", "audit_entry"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET actor = 'x'", "DELETE FROM {}", "TRUNCATE {}"])
def test_history_and_audit_only_grow(conn: Any, table: str, statement: str) -> None:
    import psycopg

    insert(conn, "j")
    conn.execute("INSERT INTO audit_entry (actor, action) VALUES ('kim', 'test')")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
        conn.execute(statement.format(table))


def test_a_batch_of_ends_is_answered_one_by_one(conn: Any) -> None:
    for n in range(3):
        insert(conn, f"j{n}")
    jobs = claim(conn, 3).jobs
    ends = [Ended(job.run, Completed("1")) for job in jobs] + [Ended(Run("nope", "w1", None), Completed("1"))]
    answers = transitions.finish("w1", ends, conn)
    assert sorted(a.changed for a in answers) == [False, True, True, True]
