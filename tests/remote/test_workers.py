"""Workers that start, stop, are killed, or may not, while another service runs their jobs."""

from collections.abc import Callable
from typing import Any

import pytest

from detiq_admin.listening import listen, url
from jobs.queue import transitions
from jobs.queue.remote import changed
from tests.factories import RemoteTypeFactory
from tests.processes import console
from tests.queue.helpers import history, insert, row
from tests.remote.node import NodeExecutor
from tests.remote.service import SECRET, Service, asked, calls_back
from tests.workers.helpers import KIT, status, wait_for, wait_status

WHO = {"actor": "kim", "reason": "because"}


@pytest.fixture
def start_worker(live_site: str, worker_process: Any) -> Callable[..., Any]:
    """A worker whose services call the live console back."""
    return lambda **env: worker_process(**KIT, **{**calls_back(live_site), **env})


def test_types_come_and_go_without_a_restart(conn: Any, start_worker: Any) -> None:
    start_worker(JOB_WORKER_POLL_INTERVAL_MS="60000")
    insert(conn, "j", type="FAR")
    insert(conn, "here", type="NOOP")
    wait_status(conn, "here", "DONE")
    assert status(conn, "j") == "QUEUED"
    assert "FAR" not in conn.execute("SELECT types FROM worker").fetchone()[0]
    with Service() as service:
        mapping = RemoteTypeFactory(url=service.url)
        RemoteTypeFactory(type="NOOP", url=service.url)
        changed()
        service.tell(asked(service), "end", {"outcome": "done"})
        wait_status(conn, "j", "DONE")
        assert "FAR" in conn.execute("SELECT types FROM worker").fetchone()[0]
        insert(conn, "k", type="FAR")
        start = asked(service, n=2)
        insert(conn, "there", type="NOOP")  # a mapping takes the place of a handler
        service.tell(asked(service, n=3), "end", {"outcome": "done", "result": {"elsewhere": True}})
        wait_status(conn, "there", "DONE")
        assert row(conn, "there")["result"] == {"elsewhere": True}
        mapping.delete()
        changed()
        wait_status(conn, "k", "RETRY_WAIT", 4)
        assert row(conn, "k")["failureType"] == "TRANSIENT" and "no longer mapped" in row(conn, "k")["error"]
        cancel = asked(service, "cancel")
        assert cancel.genuine and cancel.body["run"] == start.body["run"]
        wait_for(lambda: "FAR" not in conn.execute("SELECT types FROM worker").fetchone()[0])


def test_without_a_public_address_jobs_wait_and_the_log_says_why(conn: Any, start_worker: Any) -> None:
    with Service() as service:
        RemoteTypeFactory(url=service.url)
        worker = start_worker(DETIQ_PUBLIC_URL="")
        insert(conn, "j", type="FAR")
        insert(conn, "k", type="NOOP")
        wait_status(conn, "k", "DONE")
        wait_for(lambda: "DETIQ_PUBLIC_URL is not set" in worker.output())
        assert status(conn, "j") == "QUEUED" and service.asked == []


def test_a_run_elsewhere_holds_no_thread_until_so_many_are_followed(conn: Any, start_worker: Any) -> None:
    def slots() -> int:
        (found,) = conn.execute("SELECT slots FROM worker").fetchone()
        return int(found)

    with Service() as service:
        RemoteTypeFactory(url=service.url)
        start_worker(JOB_WORKER_CONCURRENCY="1", REMOTE_RUNS_FOLLOWED="2")
        for n in (1, 2):
            insert(conn, f"far-{n}", type="FAR", checkpoint='{"page": 7}')
            asked(service, n=n)
        insert(conn, "near", type="NOOP")
        wait_status(conn, "near", "DONE")
        assert [status(conn, f"far-{n}") for n in (1, 2)] == ["RUNNING"] * 2
        wait_for(lambda: slots() == 3)  # so that slots, runs and free slots agree
        insert(conn, "far-3", type="FAR")
        third = asked(service, n=3)
        insert(conn, "waits", type="NOOP")
        transitions.request_cancel(["far-1"], **WHO, using=conn)
        assert asked(service, "cancel").body["run"] == asked(service).body["run"]
        assert status(conn, "waits") == "QUEUED" and slots() == 3
        assert service.tell(third, "end", {"outcome": "done"})[0] == 200
        wait_status(conn, "waits", "DONE")
        assert service.tell(asked(service), "end", {"outcome": "cancelled"})[0] == 200
        assert service.tell(asked(service, n=2), "end", {"outcome": "done"})[0] == 200
        wait_for(lambda: slots() == 1)
        assert row(conn, "far-2")["checkpoint"] == {"page": 7}


def test_a_thread_that_a_run_elsewhere_gives_back_takes_the_next_job_at_once(conn: Any, start_worker: Any) -> None:
    with Service() as service:
        RemoteTypeFactory(url=service.url)
        start_worker(JOB_WORKER_CONCURRENCY="1", JOB_WORKER_POLL_INTERVAL_MS="60000")
        wait_for(lambda: conn.execute("SELECT types FROM worker WHERE 'FAR' = ANY (types)").fetchone())
        conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                        SELECT 'j' || n, 't' || n, 'FAR', '{}' FROM generate_series(1, 3) n""")
        assert asked(service, n=3)


def test_a_killed_worker_loses_the_run_and_the_late_end_is_refused(conn: Any, start_worker: Any) -> None:
    with Service() as service:
        RemoteTypeFactory(url=service.url)
        worker = start_worker(JOB_STALE_TIMEOUT_MINUTES="0.02")
        insert(conn, "j", type="FAR")
        start = asked(service)
        worker.kill()
        start_worker(JOB_STALE_TIMEOUT_MINUTES="0.02")
        wait_status(conn, "j", "RETRY_WAIT", 10)
        code, answer = service.tell(start, "end", {"outcome": "done"})
        assert (code, answer["error"]) == (410, "run_over")
        assert status(conn, "j") == "RETRY_WAIT"


def test_a_stopping_worker_puts_the_job_back_and_tells_the_service(conn: Any, start_worker: Any) -> None:
    with Service(stop_status=200) as service:
        RemoteTypeFactory(url=service.url)
        worker = start_worker(JOB_SHUTDOWN_GRACE_SECONDS="0")
        insert(conn, "j", type="FAR")
        start = asked(service)
        assert service.tell(start, "checkpoint", {"checkpoint": {"page": 3}})[0] == 200
        worker.terminate()
        wait_status(conn, "j", "QUEUED", 5)
        assert asked(service, "cancel").body["reason"] == "worker stops"
        assert row(conn, "j")["checkpoint"] == {"page": 3} and row(conn, "j")["retryCount"] == 0
        assert service.tell(start, "end", {"outcome": "done"})[0] == 410
        worker.wait()


def test_a_console_that_is_away_for_a_while_loses_nothing(conn: Any, worker_process: Any) -> None:
    with NodeExecutor(SECRET) as executor, listen("127.0.0.1", 0) as listener:
        RemoteTypeFactory(url=executor.url, secret_text=SECRET)
        worker_process(**calls_back(url(listener, "127.0.0.1").rstrip("/")))
        insert(conn, "j", type="FAR", config='{"steps": 30, "pause": 10}')
        wait_for(lambda: conn.execute("SELECT 1 FROM remote_run WHERE heard_at IS NOT NULL").fetchone())
        away = console(listener)
        try:
            assert status(conn, "j") == "RUNNING"
            wait_status(conn, "j", "DONE", 30)
        finally:
            away.close()
        assert row(conn, "j")["checkpoint"] == {"done": 30} and len(history(conn, "j")) == 3
