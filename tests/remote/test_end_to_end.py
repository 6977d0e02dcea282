"""Jobs that another service runs, with a real worker, a real console and real HTTP; once with a real executor in Node.

One worker does all of these; those that start and end workers of their own are in test_workers.py.
"""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from jobs.queue import transitions
from jobs.queue.remote import changed
from tests.factories import RemoteTypeFactory
from tests.processes import Process, WorkerProcesses
from tests.queue.helpers import history, insert, row
from tests.remote.node import NodeExecutor
from tests.remote.service import SECRET, Service, asked, calls_back
from tests.workers.helpers import KIT, status, wait_for, wait_status

WHO = {"actor": "kim", "reason": "because"}


@pytest.fixture(scope="module")
def _worker(_console: str) -> Iterator[Process]:
    with WorkerProcesses() as processes:
        yield processes(**KIT, **calls_back(_console), JOB_WORKER_POLL_INTERVAL_MS="300")


@pytest.fixture
def worker(_worker: Process, live_site: str, conn: Any) -> Process:
    """The worker of this file, whose services call the live console back."""
    return _worker


def mapped(url: str, **more: Any) -> None:
    """A type that the worker knows from now on."""
    RemoteTypeFactory(url=url, **more)
    changed()


def test_a_real_node_executor_runs_reports_fails_resumes_and_stops(conn: Any, worker: Process) -> None:
    with NodeExecutor(SECRET) as executor:
        mapped(executor.url, secret_text=SECRET)
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


def test_the_request_carries_what_the_service_needs(conn: Any, worker: Process, live_site: str) -> None:
    with Service() as service:
        mapped(service.url)
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
    conn: Any, worker: Process, answer: dict[str, Any], failure_type: str, says: str
) -> None:
    with Service(**answer) as service:
        mapped(service.url)
        insert(conn, "j", type="FAR")
        wait_for(lambda: status(conn, "j") in ("RETRY_WAIT", "FAILED"))
        job = row(conn, "j")
        assert job["failureType"] == failure_type and says in job["error"]
        if "retry_after" in answer:
            assert round((job["nextRetryAt"] - job["finishedAt"]).total_seconds()) == 41
        assert len(service.asked) == 1, "nothing is followed, nobody is told to stop what was not begun"


def test_addresses_that_no_setting_names_are_refused(conn: Any, worker: Process) -> None:
    with Service() as service:
        mapped(service.url.replace("127.0.0.1", "localhost"))
        mapped(type="NAME", url="https://localhost/run")
        insert(conn, "j", type="FAR")
        insert(conn, "k", type="NAME")
        for id_ in ("j", "k"):
            wait_status(conn, id_, "FAILED")
            assert row(conn, id_)["failureType"] == "FATAL" and "is not allowed" in row(conn, id_)["error"]
        assert service.asked == []


def test_a_service_that_is_down_or_slow_to_answer(conn: Any, worker: Process) -> None:
    with Service(slow_seconds=1.5) as service:
        mapped(service.url, first_answer_seconds=1)
        mapped(type="DOWN", url="http://127.0.0.1:9/run")
        insert(conn, "j", type="FAR")
        insert(conn, "k", type="DOWN")
        wait_status(conn, "k", "RETRY_WAIT")
        assert row(conn, "k")["failureType"] == "INFRASTRUCTURE"
        wait_status(conn, "j", "RETRY_WAIT")
        assert "does not answer" in row(conn, "j")["error"]
        assert asked(service, "cancel").body["run"] == asked(service).body["run"], "it may have begun after all"


def test_silence_and_a_run_that_takes_too_long(conn: Any, worker: Process) -> None:
    with Service() as service:
        mapped(service.url, silence_seconds=1)
        mapped(type="LONG", url=service.url, longest_run_seconds=2)
        insert(conn, "j", type="FAR")
        start = asked(service)
        insert(conn, "k", type="LONG")
        for _ in range(3):
            time.sleep(0.4)
            assert service.tell(start, "progress", {})[0] == 200
        assert status(conn, "j") == "RUNNING", "a sign of life without figures keeps it going"
        wait_status(conn, "j", "RETRY_WAIT", 4)
        assert row(conn, "j")["failureType"] == "INFRASTRUCTURE" and "has said nothing for" in row(conn, "j")["error"]
        assert service.tell(start, "end", {"outcome": "done"})[0] == 410
        wait_status(conn, "k", "RETRY_WAIT", 5)
        assert row(conn, "k")["failureType"] == "TRANSIENT" and "longer than" in row(conn, "k")["error"]
        assert asked(service, "cancel", n=2)
        assert {(one.body["job"], one.body["reason"]) for one in service.of("cancel")} == {
            ("j", "silent"),
            ("k", "too long"),
        }


def test_a_cancel_reaches_the_service_and_its_next_word_is_told(conn: Any, worker: Process) -> None:
    with Service() as service:
        mapped(service.url)
        insert(conn, "j", type="FAR")
        start = asked(service)
        transitions.request_cancel(["j"], **WHO, using=conn)
        cancel = asked(service, "cancel")
        assert cancel.genuine and cancel.body["reason"] == "cancelled"
        assert service.tell(start, "progress", {"percent": 3}) == (200, {"ok": True, "cancel": True})
        assert status(conn, "j") == "CANCEL_REQUESTED", "it has not stopped yet"
        assert service.tell(start, "end", {"outcome": "cancelled"})[0] == 200
        wait_status(conn, "j", "CANCELLED", 1)


def test_a_service_that_says_it_has_stopped_needs_no_callback(conn: Any, worker: Process) -> None:
    with Service(stop_status=200) as service:
        mapped(service.url)
        insert(conn, "j", type="FAR")
        start = asked(service)
        transitions.request_cancel(["j"], **WHO, using=conn)
        wait_status(conn, "j", "CANCELLED", 2)
        assert service.tell(start, "end", {"outcome": "cancelled"})[0] == 410


def test_an_end_that_is_told_before_the_start_was_answered_counts(conn: Any, worker: Process) -> None:
    with Service(slow_seconds=0.7) as service:
        mapped(service.url)
        insert(conn, "j", type="FAR")
        assert service.tell(asked(service), "end", {"outcome": "done"})[0] == 200
        assert status(conn, "j") == "DONE"
        insert(conn, "k", type="NOOP")
        wait_status(conn, "k", "DONE")
        assert not service.of("cancel")


def test_a_job_that_once_took_its_worker_down_is_run_elsewhere_all_the_same(conn: Any, worker: Process) -> None:
    with Service() as service:
        mapped(service.url)
        insert(conn, "j", type="FAR", lostCount=1)
        start = asked(service)
        assert service.tell(start, "end", {"outcome": "done"})[0] == 200
        wait_status(conn, "j", "DONE", 1)
    assert f"run.isolated job={start.body['job']}" not in worker.output()
