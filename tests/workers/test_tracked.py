"""Tracked jobs: a block of anybody's code is a job like any other, from any thread, through outages and kills."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction

from jobs import tracked
from jobs.conf import conf
from jobs.domain.errors import InvalidInput, JobCancelled, JobStopped, WorkerStopping
from jobs.queue import transitions
from jobs.tracked import tracked_job
from jobs.workers import tracker
from tests.processes import Process, environment
from tests.queue.helpers import claim, history, insert, row
from tests.workers.helpers import KIT, status, wait_for, wait_status

WHO = {"actor": "kim", "reason": "because"}
HASTY = {"JOB_STALE_TIMEOUT_MINUTES": "0.03"}


@pytest.fixture(autouse=True)
def fresh(db_clean: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A tracker of this test's own, without connections left over from it."""
    monkeypatch.setattr(tracker, "REST_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(tracked, "_current", None)
    yield
    for thread in threading.enumerate():
        if thread.name == "detiq-tracked":
            thread.join(10)


def only(conn: Any) -> dict[str, Any]:
    return row(conn, conn.execute('SELECT id FROM "PlatformJob"').fetchone()[0])


def test_the_block_is_a_job_that_runs_at_once_and_ends_with_its_result(conn: Any) -> None:
    with tracked_job(
        "IMPORT_TESTS", "acme", project="p", config={"file": "a"}, name="Import", submitted_by="kim"
    ) as job:
        during = row(conn, job.id)
        assert (during["status"], during["inline"], during["name"]) == ("RUNNING", True, "Import")
        assert (
            during["config"] == job.config == {"file": "a", "tenantId": "acme", "projectId": "p", "submittedBy": "kim"}
        )
        assert during["workerId"] and during["heartbeatAt"] and during["submittedBy"] == "kim"
        job.progress(40, "half")
        job.log.info("a line")
        job.save_checkpoint({"page": 2})
        wait_for(lambda: row(conn, job.id)["currentStep"] == "half")
        job.set_result({"n": 1})
    after = row(conn, job.id)
    assert (after["status"], after["result"], after["progress"]) == ("DONE", {"n": 1}, 100)
    assert history(conn, job.id) == [(None, "RUNNING"), ("RUNNING", "DONE")]
    assert conn.execute("SELECT message FROM job_log").fetchall() == [("a line",)]


def test_it_takes_no_slot_of_its_tenant(conn: Any) -> None:
    insert(conn, "q")
    with tracked_job("IMPORT_TESTS", "acme"):
        assert [one.run.job_id for one in claim(conn, 1, tenant_cap=1).jobs] == ["q"]


@pytest.mark.parametrize(
    ("error", "status_", "type_"),
    [(TimeoutError("read timed out"), "RETRY_WAIT", "TRANSIENT"), (ImportError("no such module"), "FAILED", "FATAL"),
     (SystemExit(3), "RETRY_WAIT", "TRANSIENT"), (KeyboardInterrupt(), "RETRY_WAIT", "TRANSIENT")],
)  # fmt: skip
def test_what_the_block_raises_is_judged_as_a_handlers_error_and_raised_on(
    conn: Any, error: BaseException, status_: str, type_: str
) -> None:
    with pytest.raises(type(error)) as raised, tracked_job("IMPORT_TESTS", "acme"):
        raise error
    assert raised.value is error
    job = only(conn)
    assert (job["status"], job["failureType"], job["dlq"]) == (status_, type_, status_ == "FAILED")
    assert job["error"].startswith(type(error).__name__) and job["fingerprint"]


def test_the_callers_rollback_does_not_take_the_job_with_it(conn: Any) -> None:
    with pytest.raises(ValueError), transaction.atomic(), tracked_job("IMPORT_TESTS", "acme"):
        raise ValueError("no")
    assert only(conn)["failureType"] == "LOGICAL"


def test_a_cancel_reaches_the_block_and_the_program_gets_an_ordinary_exception(conn: Any) -> None:
    with pytest.raises(JobStopped, match="cancelled"), tracked_job("IMPORT_TESTS", "acme") as job:
        transitions.request_cancel([job.id], **WHO, using=conn)
        asked = time.monotonic()
        while True:
            job.sleep(0.05)
            assert time.monotonic() - asked < 5
    assert status(conn, job.id) == "CANCELLED"
    assert time.monotonic() - asked < 3


def test_a_result_that_is_ready_when_the_cancel_comes_is_kept(conn: Any) -> None:
    with tracked_job("IMPORT_TESTS", "acme") as job:
        transitions.request_cancel([job.id], **WHO, using=conn)
        job.set_result(1)
    assert status(conn, job.id) == "DONE"


@pytest.mark.parametrize(("reason", "ends_as"), [(JobCancelled(), "CANCELLED"), (WorkerStopping(), "QUEUED")])
def test_a_stop_meant_for_the_work_around_it_passes_through(conn: Any, reason: BaseException, ends_as: str) -> None:
    with pytest.raises(type(reason)), tracked_job("IMPORT_TESTS", "acme"):
        raise reason
    job = only(conn)
    assert (job["status"], job["retryCount"]) == (ends_as, 0)


def test_a_run_that_was_given_up_elsewhere_changes_nothing_any_more(conn: Any, caplog: Any) -> None:
    with pytest.raises(JobStopped), tracked_job("IMPORT_TESTS", "acme") as job:
        conn.execute("""UPDATE "PlatformJob" SET status = 'RUNNING', "workerId" = 'w2', "startedAt" = now()""")
        job.sleep(10)
    after = row(conn, job.id)
    assert (after["status"], after["workerId"]) == ("RUNNING", "w2")


def test_what_cannot_be_stored_is_refused_before_anything_is_done(conn: Any) -> None:
    with pytest.raises(InvalidInput), tracked_job("", "acme"):
        raise AssertionError("not reached")
    assert conn.execute('SELECT count(*) FROM "PlatformJob"').fetchone() == (0,)


@pytest.mark.parametrize("result", [float("nan"), "ab\x00cd", "\ud800", object()])
def test_a_result_that_cannot_be_stored_never_keeps_it_from_ending(conn: Any, result: Any) -> None:
    with tracked_job("IMPORT_TESTS", "acme") as job:
        job.set_result({"it": result})
    assert status(conn, job.id) == "DONE"


def test_many_threads_share_one_pulse(conn: Any) -> None:
    together = threading.Barrier(8)

    def one(n: int) -> str:
        with tracked_job("IMPORT_TESTS", f"t{n}") as job:
            together.wait(10)
            pulses = [thread for thread in threading.enumerate() if thread.name == "detiq-tracked"]
            assert len(pulses) == 1
            job.progress(n, f"step {n}")
            job.set_result(n)
        return job.id

    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(one, range(8)))
    assert [row(conn, id_)["result"] for id_ in ids] == list(range(8))
    workers = conn.execute("SELECT count(DISTINCT worker_id) FROM job_history WHERE to_status = 'RUNNING'").fetchone()
    assert workers == (1,)


def test_heartbeats_go_on_while_the_block_works_and_end_with_it(conn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        settings, "DETIQ", conf().__class__(**(vars(conf()) | {"stale_timeout": conf().stale_timeout / 2000}))
    )
    with tracked_job("IMPORT_TESTS", "acme") as job:
        first = row(conn, job.id)["heartbeatAt"]
        wait_for(lambda: row(conn, job.id)["heartbeatAt"] > first, 5)
    assert row(conn, job.id)["heartbeatAt"] is None


def test_an_end_waits_until_the_row_is_free(conn: Any, make_conn: Any) -> None:
    other = make_conn()
    with tracked_job("IMPORT_TESTS", "acme") as job:
        other.execute("BEGIN")
        other.execute('SELECT 1 FROM "PlatformJob" FOR UPDATE')
        threading.Timer(2, other.execute, ["COMMIT"]).start()
    assert status(conn, job.id) == "DONE"


def test_a_connection_that_was_cut_is_opened_again(conn: Any) -> None:
    for _ in range(2):
        with tracked_job("IMPORT_TESTS", "acme") as job:
            conn.execute("""SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                             WHERE application_name LIKE 'detiq-tracked%' AND datname = current_database()""")
        assert status(conn, job.id) == "DONE"


def test_when_nothing_runs_no_thread_and_no_connection_is_left(conn: Any) -> None:
    with tracked_job("IMPORT_TESTS", "acme"):
        pass
    wait_for(lambda: not [one for one in threading.enumerate() if one.name == "detiq-tracked"], 5)
    count = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'detiq-tracked%' AND datname = current_database()"
    wait_for(lambda: conn.execute(count).fetchone() == (0,), 5)


# --- Processes --------------------------------------------------------------------------------------------------------
@pytest.fixture
def program(db_clean: None) -> Any:
    running: list[Process] = []

    def start(what: str, **env: str) -> Process:
        log = Path(settings.VAR_DIR) / f"tracked-{time.monotonic_ns()}.log"
        command = [sys.executable, "-m", "tests.workers.tracked_program", what]
        running.append(Process(command, environment(**env), log))
        return running[-1].wait_ready(30)

    yield start
    for process in running:
        process.close()


def test_a_killed_programs_job_is_found_by_the_sweep_and_its_retry_runs_on_a_worker(
    conn: Any, worker_process: Any, program: Any
) -> None:
    killed = program("wait", **HASTY)
    job = only(conn)
    killed.kill()
    worker_process(**KIT, **HASTY)
    wait_status(conn, job["id"], "RETRY_WAIT", 20)
    lost = row(conn, job["id"])
    assert (
        lost["error"].startswith("worker lost (")
        and lost["failureType"] == "INFRASTRUCTURE"
        and lost["retryCount"] == 1
    )
    assert job["workerId"] in lost["error"]
    transitions.run_now([job["id"]], **WHO, using=conn)
    wait_status(conn, job["id"], "DONE", 30)
    done = row(conn, job["id"])
    assert done["result"] == {"from": 1, "to": 3}, "it went on from the block's checkpoint"
    assert done["inline"] is False


def test_without_a_handler_its_retry_waits(conn: Any, worker_process: Any, program: Any) -> None:
    killed = program("wait", **HASTY)
    job = only(conn)
    killed.kill()
    worker_process(**HASTY)
    wait_status(conn, job["id"], "RETRY_WAIT", 20)
    transitions.run_now([job["id"]], **WHO, using=conn)
    time.sleep(1)
    assert status(conn, job["id"]) == "QUEUED"


def test_a_living_programs_job_is_not_taken_for_lost(conn: Any, worker_process: Any, program: Any) -> None:
    program("wait", **HASTY)
    worker_process(**KIT, **HASTY)
    time.sleep(4)
    assert only(conn)["status"] == "RUNNING"


def test_a_forked_child_has_runs_of_its_own_and_leaves_its_parents_alone(conn: Any, program: Any) -> None:
    parent = program("fork")
    assert parent.wait(20) == 0, parent.output()
    jobs = dict(conn.execute('SELECT type, result FROM "PlatformJob"').fetchall())
    assert jobs == {"STEPS": None, "NOOP": "of the child"}
    assert conn.execute(
        """SELECT count(DISTINCT worker_id) FROM job_history WHERE to_status = 'RUNNING'"""
    ).fetchone() == (2,)
    assert {one for (one,) in conn.execute('SELECT status FROM "PlatformJob"')} == {"DONE"}


def test_an_inline_run_of_another_program_is_judged_by_its_start(conn: Any, worker_process: Any) -> None:
    insert(conn, "old", status="RUNNING", inline=True)
    conn.execute("""UPDATE "PlatformJob" SET "startedAt" = now() - interval '1 hour'""")
    insert(conn, "new", status="RUNNING", inline=True)
    conn.execute("""UPDATE "PlatformJob" SET "startedAt" = now() + interval '1 hour' WHERE id = 'new'""")
    worker_process(**KIT, **HASTY)
    wait_status(conn, "old", "RETRY_WAIT", 20)
    assert status(conn, "new") == "RUNNING"
