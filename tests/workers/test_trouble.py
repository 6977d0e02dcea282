"""What goes wrong around a job: the interpreter, the memory, the disk, the database."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from django.conf import settings

from detiq_admin.embedded import embedded_url
from detiq_admin.postgres import EmbeddedServer, set_up_roles
from jobs.queue import transitions
from jobs.workers.identity import new_worker_id
from tests.processes import Processes, database_url
from tests.queue.helpers import history, insert, row
from tests.workers.helpers import KIT, status, wait_for, wait_status

WHO = {"actor": "kim", "reason": "because"}


def test_a_handler_that_holds_the_interpreter_past_the_stale_timeout_ends_once(conn: Any, worker_process: Any) -> None:
    env = KIT | {"JOB_STALE_TIMEOUT_MINUTES": "0.03"}
    worker_process(**(env | {"JOB_HANDLER_MODULES": ""}))  # it sweeps, and has no handler for this type
    first = worker_process(**env)
    insert(conn, "j", type="HOLD", config='{"seconds": 8}')
    wait_status(conn, "j", "RETRY_WAIT", 10)
    wait_for(lambda: "run.lost_at_end" in first.output() or "run.lost" in first.output(), 10)
    assert status(conn, "j") == "RETRY_WAIT", "the late end changed nothing"
    transitions.run_now(["j"], **WHO, using=conn)
    wait_status(conn, "j", "DONE", 20)
    assert [to for _, to in history(conn, "j")] == ["QUEUED", "RUNNING", "RETRY_WAIT", "QUEUED", "RUNNING", "DONE"]


def test_a_handler_that_wants_too_much_memory_fails_as_infrastructure(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT)
    insert(conn, "j", type="HUNGRY")
    wait_for(lambda: status(conn, "j") not in ("QUEUED", "RUNNING"), 15)
    assert (status(conn, "j"), row(conn, "j")["failureType"]) == ("RETRY_WAIT", "INFRASTRUCTURE")
    insert(conn, "k", type="NOOP")
    wait_status(conn, "k", "DONE")


def test_a_forced_cancel_frees_the_slot_of_a_handler_that_never_listens(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT, JOB_WORKER_CONCURRENCY="1")
    insert(conn, "j", type="BLOCK", config='{"seconds": 90}')
    wait_status(conn, "j", "RUNNING")
    transitions.request_cancel(["j"], **WHO, using=conn)
    insert(conn, "k", type="NOOP")
    time.sleep(1.5)
    assert (status(conn, "j"), status(conn, "k")) == ("CANCEL_REQUESTED", "QUEUED")
    transitions.force_cancel(["j"], **WHO, using=conn)
    wait_status(conn, "k", "DONE", 20)
    assert status(conn, "j") == "CANCELLED"


def test_an_end_that_a_full_disk_refuses_is_recorded_when_there_is_room(conn: Any, worker_process: Any) -> None:
    worker = worker_process(**KIT)
    insert(conn, "j", type="STEPS", config='{"n": 3, "pause": 0.3}')
    wait_status(conn, "j", "RUNNING")
    conn.execute("""
        CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
        CREATE TRIGGER full_disk BEFORE UPDATE ON "PlatformJob" EXECUTE FUNCTION full_disk()""")
    try:
        wait_for(lambda: "No space left" in worker.output(), 10)
        time.sleep(1.5)
        assert status(conn, "j") == "RUNNING"
    finally:
        conn.execute('DROP TRIGGER full_disk ON "PlatformJob"; DROP FUNCTION full_disk()')
    wait_status(conn, "j", "DONE", 20)
    assert len(history(conn, "j")) == 3


def test_an_end_waits_for_a_locked_row_and_holds_up_nobody(conn: Any, make_conn: Any, worker_process: Any) -> None:
    worker_process(**KIT)
    insert(conn, "j", type="STEPS", config='{"n": 5, "pause": 0.2}')
    wait_status(conn, "j", "RUNNING")
    other = make_conn()
    other.autocommit = False
    other.execute("""SELECT * FROM "PlatformJob" WHERE id = 'j' FOR UPDATE""")
    time.sleep(1.5)
    for n in range(3):
        insert(conn, f"k{n}", type="NOOP", tenantId="b")
        wait_status(conn, f"k{n}", "DONE", 8)
    assert status(conn, "j") == "RUNNING"
    other.rollback()
    wait_status(conn, "j", "DONE", 10)


@pytest.fixture
def own_server() -> Iterator[EmbeddedServer]:
    """A PostgreSQL of this test's own, to be treated badly."""
    folder = Path(settings.VAR_DIR) / f"own-{os.getpid()}-{time.monotonic_ns()}"
    folder.mkdir()
    folder.chmod(0o711)
    server = EmbeddedServer(folder, {"fsync": "off"})
    server.start()
    try:
        yield server
    finally:
        server.stop()


def test_the_database_stopped_at_once_and_started_again_loses_nothing(own_server: Any) -> None:
    set_up_roles(own_server)
    var = own_server.var
    env = KIT | {
        "DATABASE_URL": embedded_url(var, "serving"),
        "DATABASE_OWNER_URL": embedded_url(var, "owner"),
        "JOB_WORKER_POLL_INTERVAL_MS": "500",
    }
    with Processes() as processes, ExitStack() as stack:
        assert processes.start("migrate", **env).wait(60) == 0
        worker = processes.start("worker", **env).wait_ready()
        conn = psycopg.connect(embedded_url(var, "serving"), autocommit=True)
        insert(conn, "j", type="STEPS", config='{"n": 60, "pause": 0.1}')
        for n in range(10):
            insert(conn, f"k{n}", type="STEPS", tenantId=f"t{n}", config='{"n": 5, "pause": 0.2}')
        wait_for(lambda: row(conn, "j")["checkpoint"])
        conn.close()
        os.kill(own_server.pid, signal.SIGQUIT)  # at once, without a checkpoint
        wait_for(lambda: own_server.poll() is not None)
        own_server.stop()
        time.sleep(2)
        assert worker.popen.poll() is None
        own_server.start()
        conn = stack.enter_context(psycopg.connect(embedded_url(var, "serving"), autocommit=True))
        for id_ in ["j", *(f"k{n}" for n in range(10))]:
            wait_status(conn, id_, "DONE", 40)
            assert row(conn, id_)["retryCount"] == 0
        runs = conn.execute("SELECT job_id FROM job_history WHERE to_status = 'RUNNING' GROUP BY 1 HAVING count(*) > 1")
        assert runs.fetchall() == []
        away = [line for line in worker.output().splitlines() if "database_away" in line]
        assert 0 < len(away) < 10, "it says so, and does not flood"


def test_a_handler_that_waits_inside_a_transaction_fails_alone(conn: Any, worker_process: Any) -> None:
    url = database_url() + "&options=" + quote("-c idle_in_transaction_session_timeout=500ms")
    worker_process(**KIT, DATABASE_URL=url, DETIQ_TEST_DATABASE_URL=url)
    insert(conn, "j", type="IDLE_IN_TRANSACTION", config='{"seconds": 2}')
    insert(conn, "k", type="STEPS", config='{"n": 20}')
    wait_status(conn, "j", "RETRY_WAIT", 20)
    wait_status(conn, "k", "DONE", 20)
    assert row(conn, "j")["failureType"] == "INFRASTRUCTURE"
    assert "idle-in-transaction" in row(conn, "j")["error"]
    left = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()"
    assert conn.execute(left).fetchone()[0] == 0


def test_a_server_that_became_read_only_is_waited_for_and_charges_nobody(own_server: Any) -> None:
    set_up_roles(own_server)
    var = own_server.var
    env = KIT | {
        "DATABASE_URL": embedded_url(var, "serving"),
        "DATABASE_OWNER_URL": embedded_url(var, "owner"),
        "JOB_WORKER_POLL_INTERVAL_MS": "500",
        "JOB_STALE_TIMEOUT_MINUTES": "10",
    }
    read_only = "ALTER SYSTEM SET default_transaction_read_only = %s"
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    with Processes() as processes, ExitStack() as stack:
        assert processes.start("migrate", **env).wait(60) == 0
        worker = processes.start("worker", **env).wait_ready()
        conn = stack.enter_context(psycopg.connect(embedded_url(var, "serving"), autocommit=True))
        insert(conn, "j", type="BLOCK", config='{"seconds": 4}')
        insert(conn, "k", type="STEPS", config='{"n": 30, "pause": 0.1}')
        wait_status(conn, "j", "RUNNING")
        with own_server.superuser() as super_:
            super_.execute(read_only % "on")
            super_.execute("SELECT pg_reload_conf()")
            time.sleep(0.5)
            super_.execute(cut)
            time.sleep(6)
            super_.execute("SET default_transaction_read_only = off")
            super_.execute(read_only % "off")
            super_.execute("SELECT pg_reload_conf()")
            time.sleep(0.5)
            super_.execute(cut)
        conn = stack.enter_context(psycopg.connect(embedded_url(var, "serving"), autocommit=True))
        for id_ in ("j", "k"):
            wait_status(conn, id_, "DONE", 40)
            assert row(conn, id_)["retryCount"] == 0
        assert worker.popen.poll() is None


def test_two_processes_of_one_host_name_and_process_id_are_two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "worker")
    monkeypatch.setattr("os.getpid", lambda: 1)
    assert new_worker_id() != new_worker_id()
