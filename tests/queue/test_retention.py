"""What is old leaves in small batches: with history and logs, counted right, past locks, and after a kill."""

import signal
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from jobs import tasks
from jobs.domain.outcomes import Completed
from jobs.queue import transitions
from jobs.queue.retention import Retention
from jobs.queue.statements import run
from jobs.queue.status import queue_status
from tests.queue.helpers import claim_one, finish, history, insert, row, running
from tests.workers.helpers import wait_for

KEEP = timedelta(days=90)
OLD, RECENT = datetime.now(UTC) - timedelta(days=91), datetime.now(UTC) - timedelta(days=89)
WHO = {"actor": "kim", "reason": "because"}


def many(conn: Any, n: int, prefix: str = "old", **columns: str) -> None:
    """`n` jobs that ended long ago."""
    conn.execute(
        f"""INSERT INTO "PlatformJob" (id, "tenantId", type, config, status, "finishedAt")
            SELECT '{prefix}' || n, 't' || n % 7, 'CRAWL', '{{}}', 'DONE', now() - interval '100 days'
              FROM generate_series(1, {n}) n"""
    )


def prune(conn: Any, seconds: float = 30) -> dict[str, int]:
    pruner = Retention(KEEP, conn)
    return {one.target.name: one.pruned for one in pruner.prune(pruner.all(), seconds)}


def count(conn: Any, table: str, where: str = "true") -> int:
    return int(conn.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0])


def duty(conn: Any, name: str) -> dict[str, Any]:
    cursor = conn.execute("SELECT * FROM sweep_duty WHERE name = %s", [name])
    return dict(zip([column.name for column in cursor.description], cursor.fetchone(), strict=True))


# --- What leaves, and what stays --------------------------------------------------------------------------------------
@pytest.mark.parametrize("status", ["DONE", "FAILED", "CANCELLED"])
def test_an_old_ended_job_leaves_with_history_and_logs(conn: Any, status: str) -> None:
    insert(conn, "j", status=status, finishedAt=OLD)
    conn.execute("INSERT INTO job_log (job_id, level, message) VALUES ('j', 'INFO', 'x'), ('other', 'INFO', 'y')")
    assert prune(conn)["jobs"] == 1
    assert count(conn, '"PlatformJob"') == count(conn, "job_trash") == 0
    assert history(conn, "j") == [], "not even the row that says that it left"
    assert conn.execute("SELECT job_id FROM job_log").fetchall() == [("other",)]


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "DONE", "finishedAt": RECENT},
        {"status": "DONE", "finishedAt": None},
        {"status": "FAILED", "dlq": True, "finishedAt": OLD},
        {"status": "DONE", "inline": True, "finishedAt": OLD},
        {"status": "RETRY_WAIT", "finishedAt": OLD},
        {"status": "QUEUED", "finishedAt": OLD},
        {"status": "RUNNING", "finishedAt": OLD},
        {"status": "CANCEL_REQUESTED", "finishedAt": OLD},
        {"status": "ODD", "finishedAt": OLD},
    ],
)
def test_what_has_not_ended_long_ago_or_is_a_dead_letter_or_inline_stays(conn: Any, columns: dict[str, Any]) -> None:
    insert(conn, "j", **columns)
    assert prune(conn)["jobs"] == 0
    assert row(conn, "j")["status"] == columns["status"] and history(conn, "j")


def an_operation(conn: Any, days: int, rows: int, state: str = "DONE") -> int:
    number = conn.execute(
        """INSERT INTO operation (kind, state, actor, reason, finished_at)
           VALUES ('purge', %s, 'kim', 'x', CASE WHEN %s IN ('DONE', 'STOPPED') THEN now() - make_interval(days => %s) END)
           RETURNING id""",
        [state, state, days],
    ).fetchone()[0]
    conn.execute(
        """INSERT INTO operation_item (operation_id, position, job_id, outcome)
           SELECT %s, n, 'j' || n, 'done' FROM generate_series(1, %s) n""",
        [number, rows],
    )
    return int(number)


def test_old_operations_leave_rows_first_and_what_can_be_undone_or_is_open_stays(conn: Any) -> None:
    old, stopped = an_operation(conn, 31, 1200), an_operation(conn, 31, 3, "STOPPED")
    kept = {an_operation(conn, 29, 3), an_operation(conn, 400, 3, "PAUSED"), an_operation(conn, 400, 3)}
    conn.execute(
        "INSERT INTO job_trash (job_id, tenant_id, row, operation_id, purged_by) VALUES ('t', 'a', '{}', %s, 'kim')",
        [max(kept)],
    )
    conn.execute(
        "INSERT INTO audit_entry (actor, action, target, reason, operation_id) VALUES ('kim', 'x', 'x', 'x', %s)", [old]
    )
    pruner = Retention(KEEP, conn, operations=timedelta(days=30))
    [mine] = [one for one in pruner.all() if one.name == "operations"]
    assert [mine.prune(500, mine.keep.total_seconds(), conn).pruned for _ in range(2)] == [500, 500]
    assert count(conn, "operation", f"id = {old}") == 1
    fared = pruner.prune([mine], 30)[0]
    assert (fared.pruned, fared.ended, fared.rows_left) == (200 + 3 + 2, True, 0)
    assert {number for (number,) in conn.execute("SELECT id FROM operation")} == kept
    assert count(conn, "operation_item", f"operation_id IN ({old}, {stopped})") == 0
    assert count(conn, "operation_item") == 9 and count(conn, "audit_entry", f"operation_id = {old}") == 1


def test_an_operation_that_somebody_holds_is_left_for_the_next_time(conn: Any, make_conn: Any) -> None:
    old, other = an_operation(conn, 100, 2), make_conn()
    with other.transaction():
        other.execute("SELECT 1 FROM operation WHERE id = %s FOR UPDATE", [old])
        assert prune(conn)["operations"] == 0
    assert prune(conn)["operations"] == 3


def test_the_counters_follow(conn: Any) -> None:
    many(conn, 20)
    insert(conn, "j")
    assert prune(conn)["jobs"] == 20
    assert queue_status(conn).counts == {"CRAWL": {"QUEUED": 1}}
    while run("fold_tallies", {"limit": 9}, conn)[0]["folded"]:
        pass
    assert queue_status(conn).counts == {"CRAWL": {"QUEUED": 1}}


def test_trash_is_emptied_after_seven_days_and_its_history_after_the_retention(conn: Any) -> None:
    for id_ in ("fresh", "stale"):
        insert(conn, id_, status="DONE")
    transitions.purge(["fresh", "stale"], **WHO, using=conn)
    conn.execute("UPDATE job_trash SET purged_at = now() - interval '8 days' WHERE job_id = 'stale'")
    pruned = prune(conn)
    assert (pruned["trash"], pruned["history"]) == (1, 0)
    assert conn.execute("SELECT job_id FROM job_trash").fetchall() == [("fresh",)]
    assert history(conn, "stale"), "why it was purged can still be read"


def age_history(conn: Any, days: int) -> None:
    """Only for tests: nobody else may change the history."""
    conn.execute("ALTER TABLE job_history DISABLE TRIGGER detiq_append_only")
    conn.execute("UPDATE job_history SET at = at - make_interval(days => %s)", [days])
    conn.execute("ALTER TABLE job_history ENABLE TRIGGER detiq_append_only")


def test_the_history_of_a_job_that_is_gone_leaves_after_the_retention(conn: Any) -> None:
    for id_ in ("gone", "trashed", "restored", "again"):
        insert(conn, id_, status="DONE")
    conn.execute("""DELETE FROM "PlatformJob" WHERE id IN ('gone', 'again')""")
    transitions.purge(["trashed", "restored"], **WHO, using=conn)
    transitions.restore(["restored"], **WHO, using=conn)
    assert prune(conn)["history"] == 0
    age_history(conn, 91)
    insert(conn, "again", status="DONE")
    conn.execute("""DELETE FROM "PlatformJob" WHERE id = 'again'""")
    conn.execute("INSERT INTO job_log (job_id, level, message) VALUES ('gone', 'INFO', 'x'), ('again', 'INFO', 'y')")
    assert prune(conn)["history"] == 1
    assert not history(conn, "gone") and all(history(conn, id_) for id_ in ("trashed", "restored", "again"))
    assert conn.execute("SELECT job_id FROM job_log").fetchall() == [("again",)]


def test_ended_sessions_silent_workers_and_old_minutes_leave(conn: Any) -> None:
    for n, days in enumerate((-1, 1)):
        conn.execute("INSERT INTO django_session VALUES (%s, '', now() + make_interval(days => %s))", [f"s{n}", days])
    conn.execute("INSERT INTO worker (id, host, pid, slots) VALUES ('w1', 'h', 1, 1), ('w2', 'h', 2, 1)")
    conn.execute("UPDATE worker SET heartbeat_at = now() - interval '25 hours' WHERE id = 'w1'")
    conn.execute("""INSERT INTO tally_minute SELECT m, 't', 'CRAWL', '', 'DONE', '', 0, 1, 0
                      FROM unnest(ARRAY[now() - interval '91 days', now() - interval '89 days']) m""")
    conn.execute("INSERT INTO tally_state VALUES ('t', 'CRAWL', 'DONE', 2)")
    pruned = prune(conn)
    assert (pruned["sessions"], pruned["workers"], pruned["tallies"]) == (1, 1, 1)
    assert conn.execute("SELECT session_key FROM django_session").fetchall() == [("s1",)]
    assert conn.execute("SELECT id FROM worker").fetchall() == [("w2",)]
    assert count(conn, "tally_minute") == count(conn, "tally_state") == 1


def test_a_running_job_whose_row_another_program_dated_back_is_never_pruned(conn: Any) -> None:
    run = running(conn)
    conn.execute('UPDATE "PlatformJob" SET "finishedAt" = %s', [OLD])
    assert prune(conn)["jobs"] == 0
    assert finish(conn, run, Completed("1")).now == "DONE"


# --- The history is still append-only ---------------------------------------------------------------------------------
@pytest.mark.parametrize("keep", ["0", "-1 day"])
def test_nobody_can_use_retention_against_a_job_that_lives_or_ended_today(conn: Any, keep: str) -> None:
    insert(conn, "living")
    insert(conn, "ended", status="DONE", finishedAt=datetime.now(UTC) - timedelta(hours=1))
    insert(conn, "deleted", status="DONE")
    conn.execute("""DELETE FROM "PlatformJob" WHERE id = 'deleted'""")
    for function in ("detiq_prune_jobs", "detiq_prune_history"):
        assert conn.execute(f"SELECT pruned FROM {function}(%s::interval, 1000000)", [keep]).fetchone() == (0,)
    assert all(history(conn, id_) for id_ in ("living", "ended", "deleted"))


@pytest.mark.parametrize("pruning", ["off", "on"])
def test_the_history_of_a_job_that_exists_or_is_in_the_trash_is_kept_from_everyone(conn: Any, pruning: str) -> None:
    insert(conn, "living")
    insert(conn, "trashed", status="DONE")
    transitions.purge(["trashed"], **WHO, using=conn)
    conn.execute(f"SET detiq.pruning = '{pruning}'")
    for id_ in ("living", "trashed"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
            conn.execute("DELETE FROM job_history WHERE job_id = %s", [id_])
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
        conn.execute("UPDATE job_history SET actor = 'x'")


# --- Batches ----------------------------------------------------------------------------------------------------------
def test_a_batch_is_small_whatever_is_asked(conn: Any) -> None:
    many(conn, 1001)
    assert transitions.prune(1_000_000, keep_seconds=KEEP.total_seconds(), using=conn) == (1000, True)
    assert transitions.prune(1_000_000, keep_seconds=KEEP.total_seconds(), using=conn) == (1, False)


def test_a_job_with_very_many_log_lines_loses_them_over_several_batches(conn: Any) -> None:
    many(conn, 1)
    conn.execute(
        "INSERT INTO job_log (job_id, level, message) SELECT 'old1', 'INFO', 'x' FROM generate_series(1, 12000)"
    )
    seconds = KEEP.total_seconds()
    assert [transitions.prune(500, keep_seconds=seconds, using=conn) for _ in range(3)] == [
        (0, True),
        (0, True),
        (1, False),
    ]
    assert count(conn, "job_log") == 0


def test_rows_that_somebody_has_locked_are_passed_over_and_counted_as_left(conn: Any, make_conn: Any) -> None:
    many(conn, 30)
    other = make_conn()
    other.execute("BEGIN")
    other.execute("""SELECT 1 FROM "PlatformJob" WHERE id IN ('old3', 'old4') FOR UPDATE""")
    started = time.monotonic()
    assert prune(conn)["jobs"] == 28
    assert time.monotonic() - started < 5
    assert duty(conn, "prune jobs")["rows_left"] == 2
    other.execute("COMMIT")
    assert prune(conn)["jobs"] == 2
    assert duty(conn, "prune jobs")["rows_left"] == 0


def test_a_locked_table_of_one_target_stops_no_other_and_is_tried_again(conn: Any, make_conn: Any) -> None:
    many(conn, 3)
    conn.execute("INSERT INTO django_session VALUES ('s', '', now() - interval '1 day')")
    other = make_conn()
    other.execute("BEGIN")
    other.execute("LOCK TABLE job_log IN EXCLUSIVE MODE")
    key = Retention(KEEP, conn).slice(None, 10)
    assert key is None and count(conn, "django_session") == 0 and count(conn, '"PlatformJob"') == 3
    failed = duty(conn, "prune jobs")
    assert "lock timeout" in failed["error"] and failed["ok_at"] is None and failed["rows_left"] == 3
    assert duty(conn, "prune sessions")["ok_at"] and duty(conn, "retention")["ok_at"] is None
    other.execute("ROLLBACK")
    assert Retention(KEEP, conn).slice(None, 10) is None
    assert count(conn, '"PlatformJob"') == 0
    assert duty(conn, "prune jobs")["error"] is None and duty(conn, "retention")["ok_at"]


def test_claims_go_on_at_their_pace_while_a_large_backlog_is_pruned(
    conn: Any, make_conn: Any, worker_process: Any
) -> None:
    many(conn, 20_000)
    for n in range(40):
        insert(conn, f"q{n}", tenantId=f"x{n}")
    command, worker = worker_process.start("retention"), make_conn()
    wait_for(lambda: not conn.execute("""SELECT 1 FROM "PlatformJob" WHERE id = 'old1'""").fetchall(), 40)
    waits = []
    for _ in range(40):
        started = time.monotonic()
        job = claim_one(worker, tenant_cap=40)
        waits.append(time.monotonic() - started)
        finish(worker, job.run, Completed("1"))
    assert sorted(waits)[-4] < 0.5, waits
    assert command.wait(60) == 0
    assert count(conn, '"PlatformJob"') == 40


# --- Once a day, by one replica, whatever is killed -------------------------------------------------------------------
def test_it_is_due_once_a_day_by_the_databases_clock(conn: Any) -> None:
    assert Retention(KEEP, conn).slice(None, 10) is None
    assert Retention(KEEP, conn).due() == []
    many(conn, 3)
    assert Retention(KEEP, conn).slice(None, 10) is None
    assert count(conn, '"PlatformJob"') == 3, "tomorrow"
    conn.execute("UPDATE sweep_duty SET ok_at = ok_at - interval '25 hours'")
    assert Retention(KEEP, conn).slice(None, 10) is None
    assert count(conn, '"PlatformJob"') == 0


def test_only_one_replica_is_at_it_and_one_that_was_killed_is_succeeded(conn: Any) -> None:
    many(conn, 3000)
    first = Retention(KEEP, conn).slice(None, 0.0)
    assert first is not None, "its time was over before it was done"
    assert Retention(KEEP, conn).slice(None, 10) is None, "another replica leaves it to the first"
    assert count(conn, '"PlatformJob"') == 3000
    conn.execute("UPDATE sweep_duty SET looked_at = looked_at - interval '31 seconds' WHERE name = 'retention'")
    assert Retention(KEEP, conn).slice(None, 30) is None
    assert count(conn, '"PlatformJob"') == 0
    assert Retention(KEEP, conn).slice(first, 10) is None, "the first was not killed after all: its key is void"


def test_the_command_killed_half_way_leaves_whole_batches_and_the_next_goes_on(conn: Any, worker_process: Any) -> None:
    many(conn, 30_000)
    killed = worker_process.start("retention")
    wait_for(lambda: count(conn, '"PlatformJob"') < 30_000, 30)
    killed.signal(signal.SIGKILL)
    killed.popen.wait(10)
    # In one snapshot: the server may still be committing the batch that was under way.
    both = conn.execute(
        """SELECT (SELECT count(*) FROM "PlatformJob"), (SELECT count(*) FROM job_history)"""
    ).fetchone()
    assert both[0] == both[1], "no job without its history, and no history without its job"
    again = worker_process.start("retention", "--json")
    assert again.wait(60) == 0 and '"error": null' in again.output()
    assert count(conn, '"PlatformJob"') == count(conn, "job_history") == 0


def test_a_worker_does_it_by_itself_and_again_after_a_kill(conn: Any, worker_process: Any) -> None:
    many(conn, 1200)
    worker_process().kill()
    conn.execute("UPDATE sweep_duty SET looked_at = looked_at - interval '31 seconds' WHERE name = 'retention'")
    worker_process()
    wait_for(lambda: count(conn, '"PlatformJob"') == 0, 20)
    wait_for(lambda: count(conn, "sweep_duty", "name = 'retention' AND ok_at IS NOT NULL"), 10)


def test_huey_knows_the_tasks_by_names_that_stay() -> None:
    assert tasks.retention.name == "jobs.retention" and tasks.retention_slice.name == "jobs.retention_slice"


def test_alerts_leave_when_they_are_long_over_with_their_messages(conn: Any) -> None:
    conn.execute(
        """INSERT INTO alert_channel (name, kind, target, shown, updated_by) VALUES ('a', 'email', 'x', 'x', 'dana')"""
    )
    for rule, closed in (("old", OLD), ("recent", RECENT), ("open", None)):
        conn.execute(
            """INSERT INTO alert (rule, title, opened_at, seen_at, closed_at) VALUES (%s, 't', %s, %s, %s)""",
            [rule, OLD, OLD, closed],
        )
    conn.execute("""INSERT INTO alert_delivery (alert_id, channel_id, event)
                    SELECT a.id, c.id, 'opened' FROM alert a, alert_channel c""")
    conn.execute(
        "INSERT INTO notice_pause (pause, tenant_id, told_at) VALUES ('pause:7', 'acme', %s), ('pause:8', 'acme', now())",
        [OLD],
    )
    conn.execute(
        "INSERT INTO type_hour (hour, type, done, came) VALUES (%s, 'CRAWL', 1, 1), (now(), 'CRAWL', 1, 1)", [OLD]
    )
    assert prune(conn)["alerts"] == 1
    assert conn.execute("SELECT rule FROM alert ORDER BY id").fetchall() == [("recent",), ("open",)]
    assert count(conn, "alert_delivery") == 2 and count(conn, "notice_pause") == count(conn, "type_hour") == 1
