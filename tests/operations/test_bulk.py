"""Bulk operations: a frozen set, worked on in small batches, each row done once, each outcome said."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError

from jobs.domain.bulk import CAME_BACK, EARLIER_IN_TRASH, GONE, KEY_HELD, REDRIVEN, Kind, OperationState
from jobs.domain.errors import (
    InvalidInput,
    NothingToDo,
    OperationNotFound,
    OperationRefused,
    SetGrew,
    TransitionRefused,
)
from jobs.domain.outcomes import Completed, DeadLettered
from jobs.models import AuditEntry, Job, JobHistory, Operation, OperationItem
from jobs.operations import bulk
from jobs.operations.bulk.size import Size
from jobs.queue import transitions
from jobs.queue.operations import Selection
from tests.operations.bulk_helpers import DEAD, EVERYTHING, KIM, begin, dead, outcomes, trash, work
from tests.queue.helpers import BOOM, claim, claim_one, finish, insert, row
from tests.together import at_once

WHO = {"actor": "dana", "reason": "x"}
Connect = Callable[[], Any]


def where(clause: str, **params: Any) -> Selection:
    return Selection(clause, params)


# --- The set ----------------------------------------------------------------------------------------------------------
def test_each_kind_does_what_it_says_to_each_row(conn: Any) -> None:
    dead(conn, 3)
    insert(conn, "q")
    insert(conn, "w", status="RETRY_WAIT", nextRetryAt="2099-01-01")
    assert work(begin(Kind.RUN_NOW, where("j.status = 'RETRY_WAIT'"))).done == 1
    assert row(conn, "w")["status"] == "QUEUED"
    assert work(begin(Kind.PRIORITY, where("j.status = 'QUEUED'"), priority=7)).done == 2
    assert (row(conn, "q")["priority"], row(conn, "w")["priority"]) == (7, 7)
    assert work(begin(Kind.CANCEL, where("j.status = 'QUEUED'"))).done == 2
    assert row(conn, "q")["status"] == "CANCELLED"
    operation = begin(Kind.RERUN, where("j.id = 'q'"))
    assert work(operation).done == 1
    made = OperationItem.objects.get(operation_id=operation).detail
    assert row(conn, made)["originId"] == "q" and row(conn, "q")["status"] == "CANCELLED"
    assert work(begin(Kind.RETRY)).done == 3
    assert {row(conn, f"d{i}")["status"] for i in (1, 2, 3)} == {"QUEUED"}


def test_the_set_is_frozen_and_tenants_take_turns(conn: Any) -> None:
    dead(conn, 4, tenants=1, prefix="a")
    conn.execute("""UPDATE "PlatformJob" SET "tenantId" = 'busy'""")
    dead(conn, 2, tenants=1, prefix="b")
    operation = begin()
    dead(conn, 5, prefix="late")
    tenants = list(
        OperationItem.objects.filter(operation_id=operation).values_list("tenant_id", flat=True).order_by("position")
    )
    assert tenants == ["busy", "t0", "busy", "t0", "busy", "busy"]
    assert work(operation).done == 6
    assert row(conn, "late1")["dlq"]


def test_nothing_without_a_reason_and_nothing_when_nothing_matches(conn: Any) -> None:
    with pytest.raises(InvalidInput, match="reason"):
        bulk.start(KIM, Kind.RETRY, DEAD, reason="  ")
    with pytest.raises(NothingToDo):
        bulk.start(KIM, Kind.RETRY, DEAD, reason="x")
    with pytest.raises(InvalidInput, match="rate"):
        begin(rate=0)
    with pytest.raises(InvalidInput, match="priority"):
        begin(Kind.PRIORITY)
    assert not Operation.objects.exists() and not AuditEntry.objects.exists()


def test_more_than_was_shown_is_refused(conn: Any) -> None:
    dead(conn, 100)
    with pytest.raises(SetGrew, match="100 jobs match by now, 40 were shown"):
        begin(expected=40)
    assert not Operation.objects.exists()
    assert Operation.objects.get(pk=begin(expected=95)).total == 100


def test_the_same_key_is_one_operation_even_at_the_same_moment(conn: Any) -> None:
    dead(conn, 20)
    found = at_once(*[lambda: begin(key="once")] * 6)
    assert len(found) == 6 and len(set(found)) == 1
    assert Operation.objects.count() == 1 and OperationItem.objects.count() == 20
    assert AuditEntry.objects.filter(action="bulk_retry").count() == 1


# --- What is found otherwise -----------------------------------------------------------------------------------------
def test_rows_that_changed_since_are_left_alone_and_say_why(conn: Any) -> None:
    dead(conn, 4)
    conn.execute("""UPDATE "PlatformJob" SET "uniqueKey" = 'k' WHERE id = 'd4'""")
    insert(conn, "holder", uniqueKey="k")
    operation = begin()
    transitions.retry(["d1"], **WHO)
    transitions.purge(["d2"], **WHO)
    done = work(operation)
    assert (done.state, done.done, done.skipped, done.failed) == ("DONE", 1, 3, 0)
    assert outcomes(operation) == {
        "d1": ("skipped", "it became Queued"),
        "d2": ("skipped", GONE),
        "d3": ("done", None),
        "d4": ("skipped", KEY_HELD),
    }
    assert OperationItem.objects.get(job_id="d4").detail == "holder"
    assert len(JobHistory.objects.filter(job_id="d1", to_status="QUEUED")) == 1


@pytest.mark.parametrize("kind", [Kind.PURGE, Kind.RERUN])
def test_a_dead_letter_that_was_redriven_and_is_done_is_left(conn: Any, kind: Kind) -> None:
    dead(conn, 2)
    operation = begin(kind, where("j.status = 'FAILED'"))
    transitions.retry(["d1"], **WHO)
    finish(conn, claim_one(conn).run, Completed())
    assert row(conn, "d1")["status"] == "DONE"
    assert work(operation).done == 1
    assert outcomes(operation)["d1"] == ("skipped", REDRIVEN) and row(conn, "d1")["status"] == "DONE"


def test_a_cancel_of_waiting_jobs_touches_none_that_began_meanwhile(conn: Any) -> None:
    insert(conn, "a")
    insert(conn, "b", tenantId="other")
    operation = begin(Kind.CANCEL, where("j.status = 'QUEUED'"), states=("QUEUED",))
    assert claim(conn, 1).jobs[0].run.job_id == "a"
    work(operation)
    assert outcomes(operation) == {"a": ("skipped", "it became Running"), "b": ("done", None)}
    assert row(conn, "a")["status"] == "RUNNING"
    again = begin(Kind.CANCEL, where("j.status = 'RUNNING'"))
    work(again)
    assert row(conn, "a")["status"] == "CANCEL_REQUESTED"


def test_a_second_redrive_of_the_same_set_touches_no_job_twice(conn: Any) -> None:
    dead(conn, 2)
    first, second = begin(), begin()
    work(first)
    job = claim_one(conn)
    finish(conn, job.run, DeadLettered(BOOM, "boom"))
    work(second)
    assert {reason for _, reason in outcomes(second).values()} == {REDRIVEN, "it became Queued"}
    assert row(conn, job.run.job_id)["dlq"] and row(conn, job.run.job_id)["redriveCount"] == 1


def test_what_came_back_after_a_redrive_is_left_out_unless_chosen(conn: Any) -> None:
    dead(conn, 2, prefix="fresh")
    dead(conn, 3, prefix="back", redriveCount=1)
    operation = begin()
    assert Operation.objects.get(pk=operation).skipped == 3
    assert work(operation).done == 2
    assert [one for one in outcomes(operation).values() if one[0] == "skipped"] == [("skipped", CAME_BACK)] * 3
    assert work(begin(boomerangs=True)).done == 3


def test_a_row_that_cannot_be_changed_fails_alone_and_says_why(conn: Any) -> None:
    dead(conn, 30)
    conn.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$"
    )
    conn.execute("""CREATE TRIGGER refuse BEFORE UPDATE ON "PlatformJob" FOR EACH ROW WHEN (OLD.id = 'd7')
                    EXECUTE FUNCTION refuse()""")
    try:
        operation = begin()
        done = work(operation)
    finally:
        conn.execute('DROP TRIGGER refuse ON "PlatformJob"')
        conn.execute("DROP FUNCTION refuse()")
    assert (done.state, done.done, done.failed) == ("DONE", 29, 1)
    assert outcomes(operation)["d7"] == ("failed", "not this one")


def test_a_broken_row_behind_locked_ones_holds_up_nobody(conn: Any, make_conn: Connect) -> None:
    dead(conn, 60)
    conn.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$")
    conn.execute("""CREATE TRIGGER refuse BEFORE UPDATE ON "PlatformJob" FOR EACH ROW WHEN (OLD.id = 'd40')
                    EXECUTE FUNCTION refuse()""")
    other = make_conn()
    try:
        operation = begin()
        first = list(OperationItem.objects.filter(operation_id=operation).order_by("position")[:20])
        with other.transaction():
            other.execute(
                """SELECT 1 FROM "PlatformJob" WHERE id = ANY (%s) FOR UPDATE""", [[one.job_id for one in first]]
            )
            work(operation, 1, "r")
            assert Operation.objects.get(pk=operation).done >= 38
        done = work(operation, runner="r")
    finally:
        conn.execute('DROP TRIGGER refuse ON "PlatformJob"')
        conn.execute("DROP FUNCTION refuse()")
    assert (done.state, done.done, done.failed) == ("DONE", 59, 1)


def test_what_takes_too_long_to_collect_is_refused(conn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dead(conn, 2)
    monkeypatch.setattr("jobs.queue.operations.FREEZE_SECONDS", 1)
    with pytest.raises(InvalidInput, match="narrow it"):
        begin(selection=where("pg_sleep(0.8) IS NOT NULL"))
    assert not Operation.objects.exists()


def test_an_end_that_cannot_be_audited_is_tried_again_in_a_while(conn: Any) -> None:
    dead(conn, 3)
    operation, runner = begin(), bulk.new_runner()
    conn.execute("""
        CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT ON audit_entry FOR EACH ROW EXECUTE FUNCTION full_disk()""")
    try:
        progress = bulk.work(operation, runner, 30.0)
        assert progress.delay is not None and progress.delay >= 1.0
        assert Operation.objects.get(pk=operation).state == "RUNNING"
    finally:
        conn.execute("DROP TRIGGER full_disk ON audit_entry; DROP FUNCTION full_disk")
    assert bulk.work(operation, runner, 30.0).delay is None
    assert Operation.objects.get(pk=operation).state == "DONE"
    assert AuditEntry.objects.filter(action="bulk_retry_ended").count() == 1
    assert JobHistory.objects.filter(to_status="QUEUED", job_id="d1").count() == 1


def test_history_and_audit_name_who_why_and_which_operation(conn: Any) -> None:
    dead(conn, 2)
    operation = begin(keep_checkpoint=False)
    work(operation)
    entry = JobHistory.objects.get(job_id="d1", to_status="QUEUED")
    assert (entry.actor, entry.reason) == ("kim", f"proxy rolled back (operation {operation})")
    assert entry.detail["redrive"] == 1
    began, ended = AuditEntry.objects.order_by("id")
    assert (began.action, began.actor, began.address) == ("bulk_retry", "kim", "10.0.0.1")
    assert (began.operation_id, began.numbers, began.filter) == (operation, {"jobs": 2}, DEAD.filter)
    assert (ended.action, ended.numbers) == ("bulk_retry_ended", {"done": 2, "skipped": 0, "failed": 0, "total": 2})


# --- Nobody waits -----------------------------------------------------------------------------------------------------
def test_locked_rows_are_passed_over_and_done_when_they_are_free(conn: Any, make_conn: Connect) -> None:
    dead(conn, 5)
    operation = begin()
    other = make_conn()
    with other.transaction():
        other.execute("""SELECT 1 FROM "PlatformJob" WHERE id = 'd2' FOR UPDATE""")
        began = time.monotonic()
        found = work(operation, 0.5)
        assert time.monotonic() - began < 2
        assert (found.state, found.done) == ("RUNNING", 4)
    assert work(operation, runner=str(found.runner)).state == "DONE"
    assert outcomes(operation)["d2"] == ("done", None)


def test_claims_go_on_while_ten_thousand_rows_are_purged(conn: Any, make_conn: Connect) -> None:
    dead(conn, 10_000, tenants=50)
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                    SELECT 'q' || i, 'q' || i, 'CRAWL', '{}' FROM generate_series(1, 2000) g (i)""")
    conn.execute('ANALYZE "PlatformJob"')
    operation = begin(Kind.PURGE)
    claimer, slow, over = make_conn(), [0.0], threading.Event()

    def go_on_claiming() -> None:
        while not over.is_set():
            began = time.monotonic()
            assert claim(claimer, 1).jobs
            slow.append(time.monotonic() - began)
            time.sleep(0.01)

    thread = threading.Thread(target=go_on_claiming)
    thread.start()
    done = work(operation)
    over.set()
    thread.join()
    assert (done.state, done.done) == ("DONE", 10_000)
    assert len(slow) > 20 and sorted(slow)[int(len(slow) * 0.95)] < 0.2
    assert len(trash(conn)) == 10_000 and Job.objects.filter(dlq=True).count() == 0


@pytest.mark.parametrize(("milliseconds_each", "rows"), [(0.05, 500), (0.2, 325), (2.0, 32), (60.0, 10)])
def test_batches_steer_themselves_to_sixty_five_milliseconds(milliseconds_each: float, rows: int) -> None:
    size = Size()
    for _ in range(12):
        size.took(size.rows, size.rows * milliseconds_each / 1000)
    assert abs(size.rows - rows) <= 1
    before = size.rows
    size.took(size.rows, 0.16)  # the disk was busy for a moment
    smaller = size.rows
    assert 10 <= smaller <= max(10, before // 2)
    size.took(size.rows, size.rows * milliseconds_each / 1000)
    assert smaller <= size.rows <= 2 * smaller, "what was learnt is not forgotten at once"


# --- Rate, pause, stop -----------------------------------------------------------------------------------------------
def test_a_rate_lets_no_more_through_than_it_says(conn: Any) -> None:
    dead(conn, 100)
    operation, runner = begin(rate=600), bulk.new_runner()
    began = time.monotonic()
    while time.monotonic() - began < 1.5:
        delay = bulk.work(operation, runner, 0.1).delay
        assert delay is not None
        time.sleep(min(delay, 0.1))
    took = time.monotonic() - began
    done = Operation.objects.get(pk=operation).done
    assert 10 * (took - 0.5) <= done <= 10 * took + 21  # what two seconds allow may go at once


def test_the_first_of_a_slow_rate_goes_at_once(conn: Any) -> None:
    dead(conn, 3)
    operation = begin(rate=1)
    assert bulk.work(operation, "r", 0).delay == 0.0
    assert bulk.work(operation, "r", 5).delay == bulk.work(operation, "r", 0).delay == 2.0
    assert Operation.objects.get(pk=operation).done == 1


def test_pause_resume_and_stop_are_obeyed_and_audited(conn: Any) -> None:
    dead(conn, 30)
    operation = begin(rate=1)
    work(operation, 0.1, "r")
    bulk.pause(KIM, operation, "look first")
    assert bulk.work(operation, "r", 1).delay is None
    with pytest.raises(OperationRefused, match="is Paused"):
        bulk.pause(KIM, operation, "again")
    with pytest.raises(InvalidInput, match="rate"):
        bulk.resume(KIM, operation, "x", rate=0)
    bulk.resume(KIM, operation, "fine", rate=600)
    found = work(operation, 0.1)
    assert found.options["rate"] == 600 and 10 < found.done < 30
    bulk.stop(KIM, operation, "enough")
    stopped = work(operation)
    assert (stopped.state, stopped.done) == ("STOPPED", found.done) and stopped.finished_at
    assert OperationItem.objects.filter(operation_id=operation, outcome=None).count() == 30 - found.done
    with pytest.raises(OperationRefused, match="is Stopped"):
        bulk.resume(KIM, operation, "x")
    with pytest.raises(OperationNotFound):
        bulk.stop(KIM, 10**9, "x")
    actions = list(AuditEntry.objects.order_by("id").values_list("action", flat=True))
    assert actions == ["bulk_retry", "pause_operation", "resume_operation", "stop_operation"]


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.RESTORE])
def test_every_kind_of_work_can_be_held_and_gone_on_with(conn: Any, kind: Kind) -> None:
    dead(conn, 1, prefix="d")
    insert(conn, "q")
    insert(conn, "w", status="RETRY_WAIT", nextRetryAt="2099-01-01")
    priority = 5 if kind is Kind.PRIORITY else None
    operation = begin(kind, where("j.id IN ('d1', 'q', 'w')"), priority=priority)
    bulk.pause(KIM, operation, "wait")
    bulk.resume(KIM, operation, "go on")
    assert work(operation).done >= 1


def test_of_two_chains_one_goes_on_and_a_silent_one_is_succeeded(conn: Any) -> None:
    dead(conn, 30)
    operation = begin(rate=60)
    assert bulk.work(operation, "one", 0).delay is not None
    assert bulk.work(operation, "two", 0).delay is None
    assert bulk.abandoned() == []
    conn.execute("UPDATE operation SET heartbeat_at = now() - interval '11 seconds'")
    assert bulk.abandoned() == [operation]
    assert bulk.work(operation, "two", 0).delay is not None
    assert bulk.work(operation, "one", 0).delay is None


# --- The brake --------------------------------------------------------------------------------------------------------
def test_the_brake_stops_when_what_was_released_fails_again(conn: Any) -> None:
    dead(conn, 400, tenants=400)
    operation = begin(rate=600, brake_percent=20, brake_of=10)
    work(operation, 0.1, "r")
    released = Operation.objects.get(pk=operation).done
    for job in claim(conn, 10).jobs:
        finish(conn, job.run, DeadLettered(BOOM, "boom"))
    assert bulk.work(operation, "r", 1).delay is None
    braked = Operation.objects.get(pk=operation)
    assert (braked.state, braked.done) == (OperationState.BRAKED, released)
    assert braked.note == "10 of the last 10 released jobs failed again, 100 %; the line is 20 %"
    entry = AuditEntry.objects.get(action="brake_operation")
    assert (entry.actor, entry.reason) == ("brake", braked.note)
    bulk.resume(KIM, operation, "the proxy is back")
    time.sleep(0.2)
    assert work(operation, 0.1).state == "RUNNING"  # judged anew


def test_the_brake_stops_when_other_work_waits_too_long(conn: Any) -> None:
    dead(conn, 40)
    insert(conn, "live", tenantId="live", queuedAt="2026-01-01")
    operation = begin(brake_wait_seconds=60)
    found = work(operation)
    assert found.state == "BRAKED" and found.done == 0 and "other jobs wait up to" in found.note
    conn.execute("""UPDATE "PlatformJob" SET "queuedAt" = now() WHERE id = 'live'""")
    bulk.resume(KIM, operation, "they ran")
    assert work(operation).done == 40


def test_jobs_that_a_pause_holds_do_not_pull_the_brake(conn: Any) -> None:
    dead(conn, 4)
    insert(conn, "live", tenantId="live", queuedAt="2026-01-01")
    conn.execute("INSERT INTO queue_pause (tenant_id, reason, owner) VALUES ('live', 'x', 'dana')")
    assert work(begin(brake_wait_seconds=60)).done == 4


# --- Purge and restore -----------------------------------------------------------------------------------------------
def test_a_purge_can_be_undone_in_every_column(conn: Any) -> None:
    dead(conn, 30, tenants=3)
    conn.execute("""UPDATE "PlatformJob" SET checkpoint = '{"a": [1.50, "x"]}', "checkpointAt" = now(), priority = 3,
                    result = '{"failureType": "FATAL"}', "redriveCount" = 2, name = 'päge', "nextRetryAt" = 'infinity'""")
    everything = """SELECT id, j::text FROM "PlatformJob" j WHERE id <> 'd5' ORDER BY id"""
    before = conn.execute(everything).fetchall()
    purge = begin(Kind.PURGE)
    assert work(purge).done == 30
    assert trash(conn) == {f"d{i}" for i in range(1, 31)} and not Job.objects.exists()
    insert(conn, "d5")
    restore = begin(Kind.RESTORE, Selection("j.operation_id = %(purge)s", {"purge": purge}, trash=True))
    found = work(restore)
    assert (found.done, found.skipped) == (29, 1)
    assert outcomes(restore)["d5"] == ("skipped", "its id is taken by a new job")
    assert conn.execute(everything).fetchall() == before
    assert trash(conn) == {"d5"}
    assert work(begin(Kind.RESTORE, Selection("j.job_id = 'd5'", trash=True))).skipped == 1


def test_a_second_job_of_an_id_does_not_overwrite_the_first_in_the_trash(conn: Any) -> None:
    dead(conn, 2)
    first = begin(Kind.PURGE)
    work(first)
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config, status, dlq, "dlqAt", "finishedAt", error)
                    VALUES ('d1', 'globex', 'CRAWL', '{}', 'FAILED', true, now(), now(), 'another')""")
    second = begin(Kind.PURGE)
    assert work(second).skipped == 1
    assert outcomes(second) == {"d1": ("skipped", EARLIER_IN_TRASH)} and row(conn, "d1")["error"] == "another"
    with pytest.raises(TransitionRefused, match="an earlier job of its id"):
        raise transitions.purge(["d1"], **WHO)[0].refusal("purge")
    conn.execute("""DELETE FROM "PlatformJob" WHERE id = 'd1'""")
    undone = begin(Kind.RESTORE, Selection("j.operation_id = %(o)s", {"o": first}, trash=True))
    assert work(undone).done == 2 and row(conn, "d1")["error"] == "boom"


def test_a_purge_leaves_what_runs_or_waits(conn: Any) -> None:
    insert(conn, "q")
    insert(conn, "done", status="DONE", finishedAt="2026-01-01")
    operation = begin(Kind.PURGE, EVERYTHING)
    work(operation)
    assert outcomes(operation) == {"q": ("skipped", "it is Queued"), "done": ("done", None)}


def test_an_operation_that_cannot_be_audited_is_not_begun(conn: Any) -> None:
    dead(conn, 2)
    conn.execute("CREATE TRIGGER full_up BEFORE INSERT ON audit_entry EXECUTE FUNCTION detiq_refuse_change()")
    try:
        with pytest.raises(DatabaseError, match="append-only"):
            begin()
    finally:
        conn.execute("DROP TRIGGER full_up ON audit_entry")
    assert not Operation.objects.exists()
