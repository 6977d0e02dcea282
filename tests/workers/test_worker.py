"""Real worker processes: they start what is there, say how far it is, stop when asked, and lose nothing when killed."""

import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from jobs.queue import pauses, transitions
from tests.queue.helpers import history, insert, row
from tests.workers.helpers import KIT, status, wait_for, wait_status

WHO = {"actor": "kim", "reason": "because"}


def test_a_plain_insert_is_started_within_a_second(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT, JOB_WORKER_POLL_INTERVAL_MS="60000")
    time.sleep(0.5)
    for n in range(5):
        insert(conn, f"j{n}", type="NOOP", tenantId=f"t{n}")
        wait_status(conn, f"j{n}", "DONE", 3)
    waits = conn.execute("""SELECT extract(epoch FROM "startedAt" - "queuedAt") FROM "PlatformJob" """).fetchall()
    assert max(float(wait) for (wait,) in waits) < 1.0


def test_progress_step_checkpoint_and_log_lines_are_seen_while_it_runs(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT)
    insert(conn, "j", type="STEPS", config='{"n": 30}')
    wait_for(lambda: row(conn, "j")["progress"] > 10)
    job = row(conn, "j")
    assert job["currentStep"].startswith("step ") and job["result"]["step"].startswith("step ")
    assert job["checkpoint"]["done"] > 1 and job["checkpointAt"] and job["checkpointVersion"] == "1"
    assert conn.execute("SELECT versions FROM worker").fetchall() == [({"STEPS": "1"},)]
    wait_for(lambda: conn.execute("SELECT count(*) FROM job_log WHERE job_id = 'j'").fetchone()[0] > 2)
    wait_status(conn, "j", "DONE")
    assert row(conn, "j")["result"] == {"from": 0, "to": 30}


def test_a_running_job_stops_within_two_seconds_of_a_cancel(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT, JOB_WORKER_POLL_INTERVAL_MS="60000")
    insert(conn, "j", type="STEPS", config='{"n": 1000}')
    wait_for(lambda: row(conn, "j")["progress"] > 0 or row(conn, "j")["checkpoint"])
    asked = time.monotonic()
    transitions.request_cancel(["j"], **WHO, using=conn)
    wait_status(conn, "j", "CANCELLED", 4)
    assert time.monotonic() - asked < 2
    assert history(conn, "j")[-2:] == [("RUNNING", "CANCEL_REQUESTED"), ("CANCEL_REQUESTED", "CANCELLED")]


def test_pause_holds_and_resume_starts_at_once(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT, JOB_WORKER_POLL_INTERVAL_MS="60000")
    pause = pauses.pause(reason="incident", owner="kim", using=conn)
    insert(conn, "j", type="NOOP")
    time.sleep(1)
    assert status(conn, "j") == "QUEUED"
    pauses.lift(pause, by="kim", reason="over", using=conn)
    wait_status(conn, "j", "DONE", 2)


def test_cap_of_a_tenant_is_refilled_as_soon_as_a_run_ends(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT, JOB_WORKER_POLL_INTERVAL_MS="60000")
    for n in range(12):
        insert(conn, f"j{n}", type="STEPS", config='{"n": 1, "pause": 0.05}')
    wait_for(
        lambda: conn.execute("""SELECT count(*) FROM "PlatformJob" WHERE status = 'DONE'""").fetchone() == (12,), 8
    )


def test_whatever_a_handler_raises_ends_its_job_and_not_the_worker(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT, JOB_WORKER_CONCURRENCY="1")
    for type_ in ("FAIL", "SYSTEM_EXIT", "UNPRINTABLE", "NUL_ERROR"):
        insert(conn, type_, type=type_)
        wait_for(lambda type_=type_: status(conn, type_) in ("RETRY_WAIT", "FAILED"))
        job = row(conn, type_)
        assert job["failureType"] and job["error"] and job["fingerprint"], type_
        assert len(job["error"]) < 100_000, type_
        insert(conn, f"after {type_}", type="NOOP")
        wait_status(conn, f"after {type_}", "DONE")


def test_a_result_that_cannot_be_stored_as_it_is_never_keeps_a_job_from_ending(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT)
    for kind in ("nul", "nul key", "surrogate", "nan", "deep", "large", "object"):
        insert(conn, kind, type="RESULT", config=f'{{"kind": "{kind}"}}')
        wait_for(lambda kind=kind: status(conn, kind) not in ("QUEUED", "RUNNING"), 20)
        assert status(conn, kind) == "DONE", kind
        assert len(history(conn, kind)) == 3, kind
        asked = "SELECT reason FROM job_history WHERE job_id = %s AND to_status = 'DONE'"
        reason = conn.execute(asked, [kind]).fetchone()[0]
        assert reason, f"{kind}: the history says what was changed in the result"


def test_an_innocent_result_is_stored_unchanged(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT)
    insert(conn, "j", type="RESULT", config='{"kind": "literal"}')
    wait_status(conn, "j", "DONE")
    assert row(conn, "j")["result"] == {"text": r"\u0000"}


def test_a_config_that_cannot_be_used_fails_that_job_alone(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT)
    for config in ("[1]", '"text"', "null", '{"n": 1e5000}'):
        insert(conn, config, type="NOOP", config=config)
        insert(conn, f"after {config}", type="NOOP")
        wait_status(conn, f"after {config}", "DONE")
        wait_for(lambda config=config: status(conn, config) not in ("QUEUED", "RUNNING"))
        if config.startswith("{"):
            assert status(conn, config) in ("DONE", "RETRY_WAIT"), config
        else:
            assert row(conn, config)["failureType"] == "LOGICAL", config


def test_a_handler_that_blocks_is_not_taken_for_dead(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT, JOB_STALE_TIMEOUT_MINUTES="0.02")
    for type_ in ("BLOCK", "SPIN"):
        insert(conn, type_, type=type_, config='{"seconds": 4}')
    for type_ in ("BLOCK", "SPIN"):
        wait_status(conn, type_, "DONE", 12)
        assert len(history(conn, type_)) == 3, f"{type_}: claimed once, ended once"


def test_a_killed_workers_job_goes_on_from_its_checkpoint(conn: Any, worker_process: Any) -> None:
    env = KIT | {"JOB_STALE_TIMEOUT_MINUTES": "0.02"}
    first = worker_process(**env)
    insert(conn, "j", type="STEPS", config='{"n": 30, "pause": 0.05}')
    wait_for(lambda: (row(conn, "j")["checkpoint"] or {}).get("done", 0) > 5)
    first.kill()
    done = row(conn, "j")["checkpoint"]["done"]
    worker_process(**env)
    wait_status(conn, "j", "RETRY_WAIT", 10)
    assert row(conn, "j")["error"].startswith("worker lost (") and row(conn, "j")["failureType"] == "INFRASTRUCTURE"
    transitions.run_now(["j"], **WHO, using=conn)
    wait_status(conn, "j", "DONE")
    assert row(conn, "j")["result"]["from"] in (done, done + 1)


def test_a_job_that_kills_its_worker_ends_in_the_dlq(conn: Any, worker_process: Any) -> None:
    env = KIT | {"JOB_STALE_TIMEOUT_MINUTES": "0.02"}
    insert(conn, "j", type="DIE")
    for attempt in range(1, 5):
        with suppress(AssertionError):  # it may be dead before it could say that it is ready
            worker_process(**env)
        sweeper = worker_process(**(env | {"JOB_HANDLER_MODULES": ""}))
        wait_for(lambda: status(conn, "j") in ("RETRY_WAIT", "FAILED"), 10)
        assert row(conn, "j")["retryCount"] == attempt
        sweeper.kill()
        transitions.run_now(["j"], **WHO, using=conn)
    job = row(conn, "j")
    assert (job["status"], job["dlq"]) == ("FAILED", True)
    assert "the worker died 4 times while running this job" in job["dlqReason"]


def test_the_neighbours_of_a_job_that_kills_its_worker_finish(conn: Any, worker_process: Any) -> None:
    env = KIT | {"JOB_STALE_TIMEOUT_MINUTES": "0.03"}
    for n in range(7):
        insert(conn, f"n{n}", type="STEPS", tenantId=f"t{n}", retryCount=3, config='{"n": 40, "pause": 0.1}')
    first = worker_process(**env)
    wait_for(lambda: all(row(conn, f"n{n}")["checkpoint"] for n in range(7)))
    insert(conn, "killer", type="DIE", tenantId="k")
    first.wait(10)
    worker_process(**env)
    wait_for(lambda: all(status(conn, f"n{n}") == "RETRY_WAIT" for n in range(7)) or None, 10)
    ids = [f"n{n}" for n in range(7)]
    assert len(transitions.run_now(ids, **WHO, using=conn)) == 7
    for attempt in range(2, 5):
        wait_for(lambda: status(conn, "killer") in ("RETRY_WAIT", "FAILED"), 10)
        transitions.run_now(["killer"], **WHO, using=conn)
        wait_for(lambda attempt=attempt: row(conn, "killer")["retryCount"] == attempt or None, 15)
    for id_ in ids:
        wait_status(conn, id_, "DONE", 30)
        assert (row(conn, id_)["retryCount"], row(conn, id_)["lostCount"]) == (4, 0)
    assert row(conn, "killer")["dlq"] and "the worker died 4 times" in row(conn, "killer")["dlqReason"]
    assert conn.execute("SELECT count(*) FROM worker").fetchone() == (2,), "the second worker outlived the killer"


def test_a_job_in_a_process_of_its_own_reports_is_cancelled_and_ends_like_any_other(
    conn: Any, worker_process: Any
) -> None:
    worker_process(**KIT)
    insert(conn, "done", type="STEPS", lostCount=1, config='{"n": 5, "pause": 0.05}')
    insert(conn, "fail", type="FAIL", lostCount=1, tenantId="b")
    insert(conn, "stop", type="STEPS", lostCount=1, tenantId="c", config='{"n": 1000}')
    wait_status(conn, "done", "DONE", 15)
    assert row(conn, "done")["result"] == {"from": 0, "to": 5} and row(conn, "done")["checkpoint"] == {"done": 5}
    wait_status(conn, "fail", "RETRY_WAIT", 15)
    assert row(conn, "fail")["failureType"] == "TRANSIENT"
    wait_for(lambda: row(conn, "stop")["progress"] or row(conn, "stop")["checkpoint"], 15)
    asked = time.monotonic()
    transitions.request_cancel(["stop"], **WHO, using=conn)
    wait_status(conn, "stop", "CANCELLED", 5)
    assert time.monotonic() - asked < 2.5
    assert conn.execute("SELECT count(*) FROM job_log WHERE job_id = 'done'").fetchone() == (5,)


def test_what_a_handler_does_to_its_process_harms_no_other_job(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT)
    insert(conn, "fork", type="FORK")
    insert(conn, "wander", type="WANDER", tenantId="b")
    wait_status(conn, "fork", "DONE", 15)
    wait_status(conn, "wander", "DONE", 15)
    insert(conn, "daemon", type="DAEMON", lostCount=1)
    wait_status(conn, "daemon", "DONE", 15)
    wait_for(lambda: not _runs(row(conn, "fork")["result"]), 2)


@pytest.mark.parametrize("config", ['{"streams": 1}', '{"files": 3}'])
def test_what_a_handler_closes_is_open_for_the_next_and_the_log(conn: Any, worker_process: Any, config: str) -> None:
    worker = worker_process(**KIT, LOG_LEVEL="INFO", JOB_WORKER_CONCURRENCY="1")
    insert(conn, "close", type="CLOSE", config=config)
    wait_status(conn, "close", "DONE")
    insert(conn, "print", type="PRINT", config='{"text": "printed after all"}')
    insert(conn, "alone", type="PRINT", config='{"text": "printed alone"}', lostCount=1, tenantId="b")
    for id_ in ("print", "alone"):
        wait_status(conn, id_, "DONE")
    worker.terminate()
    assert worker.wait() == 0
    for text in ("printed after all", "printed alone", "event=worker.stopped"):
        assert text in worker.output()


def _runs(process: int) -> bool:
    """Is there such a process that is more than a dead child nobody has asked for?"""
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_sigterm_lets_jobs_finish_and_starts_nothing_new(conn: Any, worker_process: Any) -> None:
    worker = worker_process(**KIT, JOB_WORKER_CONCURRENCY="2", JOB_SHUTDOWN_GRACE_SECONDS="10")
    for n in range(2):
        insert(conn, f"j{n}", type="STEPS", config='{"n": 25, "pause": 0.1}')
    # Begun, not only claimed: what no thread has begun yet is put back.
    wait_for(lambda: conn.execute("""SELECT count(*) FROM "PlatformJob" WHERE progress > 0""").fetchone() == (2,))
    for n in range(5):
        insert(conn, f"k{n}", type="NOOP", tenantId="other")
    worker.terminate()
    assert worker.wait(15) == 0
    assert [status(conn, f"j{n}") for n in range(2)] == ["DONE", "DONE"]
    assert {status(conn, f"k{n}") for n in range(5)} <= {"QUEUED"}


def test_past_the_grace_period_jobs_are_put_back_uncounted_with_their_checkpoint(
    conn: Any, worker_process: Any
) -> None:
    worker = worker_process(**KIT, JOB_SHUTDOWN_GRACE_SECONDS="0.5")
    insert(conn, "j", type="STEPS", config='{"n": 1000}')
    insert(conn, "b", type="BLOCK", config='{"seconds": 60}')
    wait_for(lambda: row(conn, "j")["checkpoint"] and status(conn, "b") == "RUNNING")
    worker.terminate()
    assert worker.wait(15) == 0
    for id_ in ("j", "b"):
        job = row(conn, id_)
        assert (job["status"], job["retryCount"], job["workerId"]) == ("QUEUED", 0, None)
    assert row(conn, "j")["checkpoint"]["done"] > 0
    assert conn.execute("SELECT stopped_at IS NOT NULL FROM worker").fetchall() == [(True,)]


def test_a_second_signal_puts_jobs_back_at_once(conn: Any, worker_process: Any) -> None:
    worker = worker_process(**KIT, JOB_SHUTDOWN_GRACE_SECONDS="60")
    insert(conn, "j", type="STEPS", config='{"n": 1000}')
    wait_status(conn, "j", "RUNNING")
    worker.terminate()
    time.sleep(0.5)
    worker.terminate()
    assert worker.wait(10) == 0
    assert status(conn, "j") == "QUEUED"


def test_a_frozen_worker_that_wakes_up_changes_nothing(conn: Any, worker_process: Any) -> None:
    env = KIT | {"JOB_STALE_TIMEOUT_MINUTES": "0.03"}
    frozen = worker_process(**env)
    insert(conn, "j", type="STEPS", config='{"n": 60, "pause": 0.1}')
    wait_for(lambda: row(conn, "j")["checkpoint"])
    frozen.signal(signal.SIGSTOP)
    worker_process(**env)
    wait_status(conn, "j", "RETRY_WAIT", 10)
    transitions.run_now(["j"], **WHO, using=conn)
    wait_status(conn, "j", "RUNNING")
    second = row(conn, "j")["workerId"]
    frozen.signal(signal.SIGCONT)
    wait_for(lambda: "run.lost" in frozen.output(), 5)
    assert row(conn, "j")["workerId"] == second
    wait_status(conn, "j", "DONE", 15)
    assert [to for _, to in history(conn, "j")].count("DONE") == 1


def test_a_cut_connection_is_opened_again_and_work_goes_on(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT)
    insert(conn, "j", type="STEPS", config='{"n": 30, "pause": 0.1}')
    wait_for(lambda: row(conn, "j")["progress"] > 5)
    conn.execute("""SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                     WHERE application_name LIKE 'detiq-%' AND datname = current_database()
                       AND pid <> pg_backend_pid()""")
    wait_status(conn, "j", "DONE", 15)
    insert(conn, "k", type="NOOP")
    wait_status(conn, "k", "DONE", 5)
    assert len(history(conn, "j")) == 3


def test_two_processes_never_run_one_job_twice(conn: Any, worker_process: Any) -> None:
    for _ in range(2):
        worker_process(**KIT, JOB_WORKER_CONCURRENCY="4")
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                    SELECT 'j' || n, 't' || (n % 20), 'NOOP', '{}' FROM generate_series(1, 400) n""")
    wait_for(
        lambda: conn.execute("""SELECT count(*) FROM "PlatformJob" WHERE status = 'DONE'""").fetchone() == (400,), 20
    )
    runs = conn.execute(
        "SELECT job_id, count(*) FROM job_history WHERE to_status = 'RUNNING' GROUP BY 1 HAVING count(*) > 1"
    )
    assert runs.fetchall() == []
    assert conn.execute("SELECT count(DISTINCT id) FROM worker").fetchone() == (2,)


def test_a_job_over_its_types_longest_run_time_is_stopped(conn: Any, worker_process: Any) -> None:
    conn.execute("INSERT INTO type_setting (type, max_run_seconds, updated_by) VALUES ('STEPS', 1, 'x')")
    worker_process(**KIT)
    insert(conn, "j", type="STEPS", config='{"n": 1000}')
    wait_status(conn, "j", "RETRY_WAIT", 8)
    assert row(conn, "j")["failureType"] == "TRANSIENT" and "longer than" in row(conn, "j")["error"]


def test_a_bad_setting_is_named_at_the_start(worker_process: Any) -> None:
    process = worker_process.start("worker", JOB_WORKER_CONCURRENCY="zero")
    assert process.wait(20) != 0
    assert "JOB_WORKER_CONCURRENCY" in process.output() and "Traceback" not in process.output()


def test_a_handler_module_that_is_missing_is_named(worker_process: Any) -> None:
    process = worker_process.start("worker", JOB_HANDLER_MODULES="no.such.module")
    assert process.wait(20) == 1
    assert "JOB_HANDLER_MODULES names no.such.module" in process.output() and "Traceback" not in process.output()


@pytest.mark.parametrize("type_", ["STEPS", "STEPS_THEN_FAIL"])
def test_a_job_whose_row_is_deleted_stops_and_the_worker_goes_on(conn: Any, worker_process: Any, type_: str) -> None:
    worker = worker_process(**KIT, JOB_WORKER_CONCURRENCY="1")
    insert(conn, "gone", type=type_, config='{"n": 300, "pause": 0.05}')
    wait_for(lambda: row(conn, "gone")["checkpoint"])
    assert not transitions.purge(["gone"], **WHO, using=conn)[0].changed, "a running job is not purged"
    conn.execute("""DELETE FROM "PlatformJob" WHERE id = 'gone'""")
    insert(conn, "next", type="NOOP")
    wait_status(conn, "next", "DONE", 10)
    assert status(conn, "gone") == "gone", "nothing puts it back"
    said = [line for line in worker.output().splitlines() if "level=warning" in line and "job=gone" in line]
    assert len(said) == 1 and "event=run.lost" in said[0] and "the job is gone" in said[0]


def test_who_lost_a_run_and_who_has_it_now_stand_in_one_line(conn: Any, worker_process: Any) -> None:
    worker = worker_process(**KIT)
    insert(conn, "j", type="STEPS", config='{"n": 300, "pause": 0.05}')
    wait_for(lambda: row(conn, "j")["checkpoint"])
    mine = row(conn, "j")["workerId"]
    conn.execute(
        """UPDATE "PlatformJob" SET "workerId" = 'other:1:x', "startedAt" = now(), progress = 40 WHERE id = 'j'"""
    )
    wait_for(lambda: "event=run.lost" in worker.output(), 5)
    (line,) = [line for line in worker.output().splitlines() if "event=run.lost" in line]
    assert mine in line and "other:1:x" in line
    after = row(conn, "j")
    assert (after["status"], after["workerId"], after["progress"], after["error"]) == ("RUNNING", "other:1:x", 40, None)
