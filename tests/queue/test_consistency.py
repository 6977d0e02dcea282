"""Columns that cannot be true together: listed, put right by the sweep, and never what keeps a job from going on."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.queue import consistency, transitions
from jobs.queue.sweep import Sweep
from tests.queue.helpers import claim, insert, row

HOUR = timedelta(hours=1)
OLD = datetime(2020, 1, 1, tzinfo=UTC)
# What another program may store, what the list says of it, and the columns after one sweep.
ROWS: list[tuple[dict[str, Any], list[str], dict[str, Any]]] = [
    ({"workerId": "w"}, ["queued_with_worker"], {"status": "QUEUED", "workerId": None}),
    ({"dlq": True, "dlqAt": OLD, "dlqReason": "x"}, ["dlq_without_failure"], {"status": "QUEUED", "dlq": False, "dlqAt": None}),
    (
        {"status": "RUNNING", "queuedAt": OLD},
        ["running_without_worker", "running_without_heartbeat"],
        {"status": "RETRY_WAIT", "failureType": "INFRASTRUCTURE"},
    ),
    ({"status": "RUNNING", "workerId": "w", "startedAt": OLD}, ["running_without_heartbeat"], {"status": "RETRY_WAIT"}),
    (
        {"status": "CANCEL_REQUESTED"},
        ["running_without_worker", "running_without_heartbeat"],
        {"status": "CANCELLED"},
    ),
    (
        {"status": "RUNNING", "workerId": "w", "heartbeatAt": "now", "progress": 140, "retryCount": -2},
        ["progress_out_of_range", "negative_retry_count"],
        {"status": "RUNNING", "progress": 100, "retryCount": 0},
    ),
    (
        {"status": "DONE", "dlq": True, "finishedAt": OLD},
        ["dlq_without_failure"],
        {"status": "DONE", "dlq": False, "finishedAt": OLD},
    ),
    ({"status": "FAILED", "nextRetryAt": OLD}, ["failed_with_retry_time"], {"status": "QUEUED", "nextRetryAt": None}),
    (
        {"status": "FAILED", "dlq": True, "nextRetryAt": OLD},
        ["dead_with_retry_time"],
        {"status": "FAILED", "dlq": True, "nextRetryAt": None},
    ),
    ({"status": "RETRY_WAIT"}, ["waiting_without_time"], {"status": "QUEUED"}),
    ({"status": "RETRY_WAIT", "dlq": True, "nextRetryAt": OLD}, ["waiting_in_dlq"], {"status": "FAILED", "dlq": True}),
    (
        {"status": "RUNNING", "workerId": "w", "startedAt": "-infinity", "heartbeatAt": "now"},
        ["running_at_no_time"],
        {"status": "RUNNING", "startedAt": None},
    ),
]  # fmt: skip


def sweep(conn: Any) -> dict[str, int]:
    return Sweep(conn, HOUR, HOUR, 0.1, random.Random(1)).full()


@pytest.mark.parametrize(("columns", "wrong", "after"), ROWS)
def test_what_cannot_be_true_is_stored_listed_and_put_right(
    conn: Any, columns: dict[str, Any], wrong: list[str], after: dict[str, Any]
) -> None:
    columns = {name: datetime.now(UTC) if value == "now" else value for name, value in columns.items()}
    insert(conn, "j", **columns)
    assert [(one.job_id, one.wrong) for one in consistency.find(10, conn)] == [("j", wrong)]
    sweep(conn)
    job = row(conn, "j")
    assert {name: job[name] for name in after} == after
    assert consistency.find(10, conn) == []


@pytest.mark.parametrize("status", ["CANCELLED", "DONE"])
def test_an_end_without_a_time_gets_the_one_of_its_history(conn: Any, status: str) -> None:
    insert(conn, "j", status=status)
    ended = conn.execute("SELECT at FROM job_history").fetchone()[0]
    assert consistency.find(10, conn)[0].wrong == ["ended_without_time"]
    assert sweep(conn)["repair"] == 1
    assert row(conn, "j")["finishedAt"] == ended and sweep(conn)["repair"] == 0


def test_figures_out_of_range_of_what_does_not_run_are_put_right_by_a_thorough_repair(conn: Any) -> None:
    insert(conn, "low", progress=-3)
    insert(conn, "high", status="DONE", finishedAt=OLD, progress=140)
    assert transitions.repair(10, actor="kim", using=conn) == []
    assert sorted(transitions.repair(10, actor="kim", thorough=True, using=conn)) == ["high", "low"]
    assert (row(conn, "low")["progress"], row(conn, "high")["progress"]) == (0, 100)


def test_what_is_repaired_can_be_claimed_and_is_nobody_elses(conn: Any) -> None:
    insert(conn, "j", workerId="w0", dlq=True)
    sweep(conn)
    (job,) = claim(conn, 1, worker="w1").jobs
    assert (job.run.worker, row(conn, "j")["dlq"]) == ("w1", False)


def test_a_row_that_somebody_holds_is_repaired_later(conn: Any, make_conn: Any) -> None:
    insert(conn, "j", workerId="w")
    other = make_conn()
    other.autocommit = False
    other.execute("""SELECT 1 FROM "PlatformJob" FOR UPDATE""")
    assert transitions.repair(10, actor="sweep", using=conn) == []


def test_the_sweep_finds_nothing_among_many_sound_rows_without_reading_them(conn: Any) -> None:
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config, status, "finishedAt")
                    SELECT 'd' || n, 'acme', 'CRAWL', '{}', 'DONE', now() FROM generate_series(1, 20000) n""")
    conn.execute('ANALYZE "PlatformJob"')
    before = _rows_read(conn)
    assert transitions.repair(500, actor="sweep", using=conn) == []
    assert _rows_read(conn) - before < 100


def _rows_read(conn: Any) -> int:
    conn.execute("SELECT pg_stat_force_next_flush()")
    found = conn.execute("SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'PlatformJob'")
    return int(found.fetchone()[0])


@pytest.mark.parametrize("beat", ["infinity", "9999-12-31 23:59:59+00", "2099-01-01", "-infinity", "4713-01-01 BC"])
@pytest.mark.parametrize("column", ["heartbeatAt", "startedAt", "queuedAt"])
def test_a_run_whose_last_sign_of_life_is_of_no_time_does_not_run_for_ever(conn: Any, column: str, beat: str) -> None:
    insert(conn, "j", status="RUNNING", workerId="w", **{column: beat})
    sweep(conn)
    (since,) = conn.execute('SELECT now() - "heartbeatAt" FROM "PlatformJob"').fetchone()
    assert abs(since) < timedelta(minutes=1)
    conn.execute("""UPDATE "PlatformJob" SET "heartbeatAt" = now() - interval '2 hours'""")
    conn.execute("UPDATE sweep_duty SET grace_until = NULL")
    sweep(conn)
    assert conn.execute('SELECT status FROM "PlatformJob"').fetchone() == ("RETRY_WAIT",)
