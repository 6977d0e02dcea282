"""Jobs that another service runs, with a real worker, a real console and real HTTP; once with a real executor in Node."""

import time
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
from tests.remote.service import SECRET, Asked, Service
from tests.workers.helpers import KIT, status, wait_for, wait_status

WHO = {"actor": "kim", "reason": "because"}


@pytest.fixture
def start_worker(live_site: str, worker_process: Any) -> Callable[..., Any]:
    """A worker whose services call the live console back."""

    def start(**env: str) -> Any:
        here = {"DETIQ_PUBLIC_URL": live_site, "REMOTE_ALLOWED_HOSTS": "127.0.0.1", "JOB_RETRY_JITTER": "0"}
        return worker_process(**KIT, **{**here, **env})

    return start


def asked(service: Service, event: str = "start", n: int = 1) -> Asked:
    wait_for(lambda: len(service.of(event)) >= n)
    return service.of(event)[n - 1]


def test_a_real_node_executor_runs_reports_fails_resumes_and_stops(conn: Any, start_worker: Any) -> None:
    with NodeExecutor(SECRET) as executor:
        RemoteTypeFactory(url=executor.url, secret_text=SECRET)
        worker = start_worker()
        insert(conn, "j", type="FAR", config='{"steps": 4}')
        wait_status(conn, "j", "DONE")
        done = row(conn, "j")
        assert done["result"] == {"counted": 4} and done["progress"] == 100 and done["checkpoint"] == {"done": 4}
        assert history(conn, "j") == [(None, "QUEUED"), ("QUEUED", "RUNNING"), ("RUNNING", "DONE")]

        insert(
            conn, "f", type="FAR", config='{"steps": 1, "error": {"message": "busy", "status": 429, "retryAfter": 77}}'
        )
        wait_status(conn, "f", "RETRY_WAIT")
        failed = row(conn, "f")
        assert failed["failureType"] == "TRANSIENT" and failed["retryCount"] == 1
        assert 77 <= (failed["nextRetryAt"] - failed["finishedAt"]).total_seconds() < 77 * 1.11

        insert(conn, "r", type="FAR", config='{"steps": 6}', checkpoint='{"done": 5}')
        wait_status(conn, "r", "DONE")
        assert row(conn, "r")["checkpoint"] == {"done": 6}

        insert(conn, "c", type="FAR", config='{"steps": 1000, "pause": 100}')
        wait_for(lambda: row(conn, "c")["progress"] is not None and row(conn, "c")["currentStep"])
        began = time.monotonic()
        transitions.request_cancel(["c"], **WHO, using=conn)
        wait_status(conn, "c", "CANCELLED", 4)
        assert time.monotonic() - began < 2
        actor = conn.execute("SELECT actor FROM job_history WHERE job_id = 'c' AND to_status = 'CANCELLED'").fetchone()
        assert actor == ("remote:FAR",)
        assert SECRET not in worker.output()


def test_the_request_carries_what_the_service_needs(conn: Any, start_worker: Any, live_site: str) -> None:
    with Service() as service:
        RemoteTypeFactory(url=service.url)
        start_worker()
        insert(conn, "j", type="FAR", config='{"n": 1}', checkpoint='{"at": 7}', retryCount=2, projectId="p")
        start = asked(service)
        assert start.genuine
        assert start.body["job"] == "j" and start.body["type"] == "FAR" and start.body["attempt"] == 3
        assert (start.body["tenantId"], start.body["projectId"]) == ("acme", "p")
        assert start.body["config"] == {"n": 1} and start.body["checkpoint"] == {"at": 7}
        assert start.body["callbackUrl"] == f"{live_site}/remote/{start.body['run']}/"
        assert start.body["deadline"] and start.body["silenceSeconds"] == 30
        assert service.tell(start, "end", {"outcome": "done"}) == (200, {"ok": True, "cancel": False})
        wait_status(conn, "j", "DONE", 1)


def test_types_come_and_go_without_a_restart(conn: Any, start_worker: Any) -> None:
    start_worker(JOB_WORKER_POLL_INTERVAL_MS="60000")
    insert(conn, "j", type="FAR")
    time.sleep(0.5)
    assert status(conn, "j") == "QUEUED"
    assert "FAR" not in conn.execute("SELECT types FROM worker").fetchone()[0]
    with Service() as service:
        mapping = RemoteTypeFactory(url=service.url)
        changed()
        service.tell(asked(service), "end", {"outcome": "done"})
        wait_status(conn, "j", "DONE")
        assert "FAR" in conn.execute("SELECT types FROM worker").fetchone()[0]
        insert(conn, "k", type="FAR")
        start = asked(service, n=2)
        mapping.delete()
        changed()
        wait_status(conn, "k", "RETRY_WAIT", 4)
        assert row(conn, "k")["failureType"] == "TRANSIENT" and "no longer mapped" in row(conn, "k")["error"]
        cancel = asked(service, "cancel")
        assert cancel.genuine and cancel.body["run"] == start.body["run"]
        wait_for(lambda: "FAR" not in conn.execute("SELECT types FROM worker").fetchone()[0])


def test_a_mapping_takes_the_place_of_a_handler(conn: Any, start_worker: Any) -> None:
    with Service() as service:
        RemoteTypeFactory(type="NOOP", url=service.url)
        start_worker()
        insert(conn, "j", type="NOOP")
        service.tell(asked(service), "end", {"outcome": "done", "result": {"elsewhere": True}})
        wait_status(conn, "j", "DONE")
        assert row(conn, "j")["result"] == {"elsewhere": True}


def test_without_a_public_address_jobs_wait_and_the_log_says_why(conn: Any, start_worker: Any) -> None:
    with Service() as service:
        RemoteTypeFactory(url=service.url)
        worker = start_worker(DETIQ_PUBLIC_URL="")
        insert(conn, "j", type="FAR")
        insert(conn, "k", type="NOOP")
        wait_status(conn, "k", "DONE")
        wait_for(lambda: "DETIQ_PUBLIC_URL is not set" in worker.output())
        assert status(conn, "j") == "QUEUED" and service.asked == []


@pytest.mark.parametrize(
    ("answer", "failure_type", "says"),
    [
        ({"status": 503, "retry_after": "41"}, "TRANSIENT", "HTTP 503"),
        ({"status": 422}, "LOGICAL", "HTTP 422"),
        ({"status": 401}, "FATAL", "refused our signature"),
        ({"status": 302, "location": "http://169.254.169.254/"}, "FATAL", "redirects are not followed"),
    ],
)
def test_a_service_that_does_not_take_the_run(
    conn: Any, start_worker: Any, answer: dict[str, Any], failure_type: str, says: str
) -> None:
    with Service(**answer) as service:
        RemoteTypeFactory(url=service.url)
        start_worker()
        insert(conn, "j", type="FAR")
        wait_for(lambda: status(conn, "j") in ("RETRY_WAIT", "FAILED"))
        job = row(conn, "j")
        assert job["failureType"] == failure_type and says in job["error"]
        if "retry_after" in answer:
            assert round((job["nextRetryAt"] - job["finishedAt"]).total_seconds()) == 41
        assert len(service.asked) == 1, "nothing is followed, nobody is told to stop what was not begun"


def test_addresses_that_no_setting_names_are_refused(conn: Any, start_worker: Any) -> None:
    with Service() as service:
        RemoteTypeFactory(url=service.url)
        RemoteTypeFactory(type="NAME", url="https://localhost/run")
        start_worker(REMOTE_ALLOWED_HOSTS="")
        insert(conn, "j", type="FAR")
        insert(conn, "k", type="NAME")
        for id_ in ("j", "k"):
            wait_status(conn, id_, "FAILED")
            assert row(conn, id_)["failureType"] == "FATAL" and "is not allowed" in row(conn, id_)["error"]
        assert service.asked == []


def test_a_service_that_is_down_or_slow_to_answer(conn: Any, start_worker: Any) -> None:
    with Service(slow_seconds=3) as service:
        RemoteTypeFactory(url=service.url, first_answer_seconds=1)
        RemoteTypeFactory(type="DOWN", url="http://127.0.0.1:9/run")
        start_worker()
        insert(conn, "j", type="FAR")
        insert(conn, "k", type="DOWN")
        wait_status(conn, "k", "RETRY_WAIT")
        assert row(conn, "k")["failureType"] == "INFRASTRUCTURE"
        wait_status(conn, "j", "RETRY_WAIT")
        assert "does not answer" in row(conn, "j")["error"]
        assert asked(service, "cancel").body["run"] == asked(service).body["run"], "it may have begun after all"


def test_silence_and_a_run_that_takes_too_long(conn: Any, start_worker: Any) -> None:
    with Service() as service:
        RemoteTypeFactory(url=service.url, silence_seconds=1)
        RemoteTypeFactory(type="LONG", url=service.url, longest_run_seconds=2)
        start_worker()
        insert(conn, "j", type="FAR")
        start = asked(service)
        for _ in range(3):
            time.sleep(0.6)
            assert service.tell(start, "progress", {})[0] == 200
        assert status(conn, "j") == "RUNNING", "a sign of life without figures keeps it going"
        wait_status(conn, "j", "RETRY_WAIT", 4)
        assert row(conn, "j")["failureType"] == "INFRASTRUCTURE" and "has said nothing for" in row(conn, "j")["error"]
        assert asked(service, "cancel").body["reason"] == "silent"
        assert service.tell(start, "end", {"outcome": "done"})[0] == 410
        insert(conn, "k", type="LONG")
        wait_status(conn, "k", "RETRY_WAIT", 5)
        assert row(conn, "k")["failureType"] == "TRANSIENT" and "longer than" in row(conn, "k")["error"]


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


def test_a_cancel_reaches_the_service_and_its_next_word_is_told(conn: Any, start_worker: Any) -> None:
    with Service() as service:
        RemoteTypeFactory(url=service.url)
        start_worker()
        insert(conn, "j", type="FAR")
        start = asked(service)
        transitions.request_cancel(["j"], **WHO, using=conn)
        cancel = asked(service, "cancel")
        assert cancel.genuine and cancel.body["reason"] == "cancelled"
        assert service.tell(start, "progress", {"percent": 3}) == (200, {"ok": True, "cancel": True})
        assert status(conn, "j") == "CANCEL_REQUESTED", "it has not stopped yet"
        assert service.tell(start, "end", {"outcome": "cancelled"})[0] == 200
        wait_status(conn, "j", "CANCELLED", 1)


def test_a_service_that_says_it_has_stopped_needs_no_callback(conn: Any, start_worker: Any) -> None:
    with Service(stop_status=200) as service:
        RemoteTypeFactory(url=service.url)
        start_worker()
        insert(conn, "j", type="FAR")
        start = asked(service)
        transitions.request_cancel(["j"], **WHO, using=conn)
        wait_status(conn, "j", "CANCELLED", 2)
        assert service.tell(start, "end", {"outcome": "cancelled"})[0] == 410


def test_a_killed_worker_loses_the_run_and_the_late_end_is_refused(conn: Any, start_worker: Any) -> None:
    with Service() as service:
        RemoteTypeFactory(url=service.url)
        worker = start_worker(JOB_STALE_TIMEOUT_MINUTES="0.03")
        insert(conn, "j", type="FAR")
        start = asked(service)
        worker.kill()
        start_worker(JOB_STALE_TIMEOUT_MINUTES="0.03")
        wait_status(conn, "j", "RETRY_WAIT", 10)
        code, answer = service.tell(start, "end", {"outcome": "done"})
        assert (code, answer["error"]) == (410, "run_over")
        assert status(conn, "j") == "RETRY_WAIT"


def test_a_stopping_worker_puts_the_job_back_and_tells_the_service(conn: Any, start_worker: Any) -> None:
    with Service() as service:
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


def test_a_console_that_is_gone_for_a_while_loses_nothing(conn: Any, worker_process: Any) -> None:
    with NodeExecutor(SECRET) as executor, listen("127.0.0.1", 0) as listener:
        RemoteTypeFactory(url=executor.url, secret_text=SECRET)
        address = url(listener, "127.0.0.1").rstrip("/")
        worker_process(DETIQ_PUBLIC_URL=address, REMOTE_ALLOWED_HOSTS="127.0.0.1")
        first = console(listener)
        try:
            first.wait_ready(30)
            insert(conn, "j", type="FAR", config='{"steps": 30, "pause": 30}')
            wait_for(lambda: row(conn, "j")["checkpoint"])
        finally:
            first.close()
        time.sleep(0.5)
        assert status(conn, "j") == "RUNNING"
        second = console(listener)
        try:
            wait_status(conn, "j", "DONE", 30)
        finally:
            second.close()
        assert row(conn, "j")["checkpoint"] == {"done": 30} and len(history(conn, "j")) == 3


def test_a_job_that_once_took_its_worker_down_is_run_elsewhere_all_the_same(conn: Any, start_worker: Any) -> None:
    with Service() as service:
        RemoteTypeFactory(url=service.url)
        start_worker()
        insert(conn, "j", type="FAR", lostCount=1)
        start = asked(service)
        assert service.tell(start, "end", {"outcome": "done"})[0] == 200
        wait_status(conn, "j", "DONE", 1)
        time.sleep(0.5)
        insert(conn, "k", type="NOOP")
        wait_status(conn, "k", "DONE")
