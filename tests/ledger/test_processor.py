"""The processor: each event ends as its hook says, and one that goes wrong harms no other."""

import random
import threading
import time
from datetime import timedelta
from typing import Any

import pytest

from jobs.ledger import hooks, outbox
from jobs.ledger.processor import LONGEST_DELAY_SECONDS, delay_seconds
from jobs.models import ProjectArtifact
from tests.ledger.helpers import due_now, event, insert, processor, said, statuses
from tests.workers.helpers import wait_for


def drain(**more: Any) -> Any:
    return processor(**more).drain(30)


# --- Outcomes ---------------------------------------------------------------------------------------------------------
def test_a_hook_and_its_success_are_one_transaction(conn: Any) -> None:
    insert(conn, "e")
    assert drain().succeeded == 1
    assert said(conn, "e") == ["ran"] and event(conn, "e")["status"] == "succeeded"


def test_a_failure_undoes_what_the_hook_wrote_waits_and_ends_failed_on_the_last_attempt(conn: Any) -> None:
    insert(conn, "e", "FAILS")
    for attempt in range(1, 6):
        drain()
        row = event(conn, "e")
        assert (row["attempts"], row["last_error"]) == (attempt, "RuntimeError: the index is away")
        assert row["status"] == ("failed" if attempt == 5 else "pending")
        assert drain().ran == 0  # it waits
        due_now(conn)
    assert said(conn) == [] and row["completed_at"] is None


def test_waits_grow_to_ten_minutes() -> None:
    rng = random.Random(1)
    waits = [delay_seconds(n, rng) for n in (1, 2, 3, 50)]
    assert 10 <= waits[0] <= 11 and 20 <= waits[1] <= 22 and 40 <= waits[2] <= 44
    assert LONGEST_DELAY_SECONDS <= waits[3] <= LONGEST_DELAY_SECONDS * 1.1


def test_what_can_never_succeed_fails_at_once(conn: Any) -> None:
    insert(conn, "refused", "REFUSES")
    assert drain().failed == 1
    assert (event(conn, "refused")["status"], event(conn, "refused")["last_error"]) == (
        "failed",
        "the document is gone",
    )


@pytest.mark.parametrize(
    ("payload", "said_of_it"),
    [("{", "is not JSON"), ("nonsense", "is not JSON"), ("[" * 20_000, "nested deeper"), ("9" * 5000, "number")],
)
def test_a_payload_that_is_no_json_fails_with_a_clear_error_and_the_rest_goes_on(
    conn: Any, payload: str, said_of_it: str
) -> None:
    insert(conn, "bad", payload_json=payload, created_at="2026-01-01")
    insert(conn, "good")
    done = drain()
    assert (done.failed, done.succeeded) == (1, 1)
    row = event(conn, "bad")
    assert (
        row["status"] == "failed" and row["last_error"].startswith("payload_json: ") and said_of_it in row["last_error"]
    )


def test_a_hook_type_without_a_handler_is_a_failure_that_says_so(conn: Any) -> None:
    insert(conn, "e", "NOBODYS", attempts=4)
    drain()
    assert event(conn, "e")["status"] == "failed"
    assert event(conn, "e")["last_error"].startswith("no handler for hook type NOBODYS; this worker has: ")


def test_a_hook_that_leaves_python_is_a_failure_like_any_other(conn: Any) -> None:
    insert(conn, "e")
    leaves = hooks.Hook(lambda event: exit(3))
    assert drain(find=lambda hook_type: leaves).retried == 1
    assert event(conn, "e")["last_error"].startswith("SystemExit")


# --- Times ------------------------------------------------------------------------------------------------------------
def test_a_drain_ends_in_time_and_puts_back_what_it_has_not_begun(conn: Any) -> None:
    for n in range(5):
        insert(conn, f"e{n}", "NOTE_OUTSIDE", payload_json='{"seconds": 0.2}')
    done = processor().drain(0.3)
    assert (done.succeeded, done.released, done.more) == (2, 3, True)
    assert statuses(conn) == {"succeeded": 2, "pending": 3}
    assert conn.execute("SELECT max(attempts) FROM document_lifecycle_events WHERE status = 'pending'").fetchone() == (
        0,
    )


def test_a_drainer_that_is_told_to_stop_finishes_the_hook_under_way(conn: Any) -> None:
    for n in range(3):
        insert(conn, f"e{n}", "NOTE_OUTSIDE", payload_json='{"seconds": 0.3}')
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    done = drain(stopping=stop.is_set)
    assert (done.succeeded, done.released) == (1, 2)


def test_a_hook_that_takes_longer_than_the_stale_time_is_not_taken_for_dead(conn: Any, make_conn: Any) -> None:
    insert(conn, "e", "NOTE_OUTSIDE", payload_json='{"seconds": 1.5}')
    watched: list[int] = []

    def watch() -> None:
        deadline = time.monotonic() + 1.2
        while time.monotonic() < deadline:
            watched.append(outbox.reclaim_stale_running(timedelta(seconds=0.6)))
            time.sleep(0.1)
        from django.db import connection

        connection.close()

    thread = threading.Thread(target=watch)
    thread.start()
    done = drain(stale=timedelta(seconds=0.6))
    thread.join()
    assert (done.succeeded, sum(watched), said(conn)) == (1, 0, ["began", "ended"])


def test_a_claim_that_is_lost_while_the_hook_runs_undoes_the_hook(conn: Any) -> None:
    insert(conn, "e", "NOTE_SLOWLY", payload_json='{"seconds": 0.3}')

    def take_away() -> None:
        wait_for(lambda: event(conn, "e")["status"] == "running")
        conn.execute("UPDATE document_lifecycle_events SET status = 'pending', claim_token = NULL, attempts = 5")

    thief = threading.Thread(target=take_away)
    thief.start()
    done = drain()
    thief.join()
    assert (done.lost, done.succeeded, said(conn)) == (1, 0, [])


# --- The built-in hook ------------------------------------------------------------------------------------------------
def test_a_saved_artifact_is_analysed_by_one_job_that_the_ledger_names(conn: Any) -> None:
    import jobs.handlers.hooks  # noqa: F401 - registers it

    ProjectArtifact.objects.create(id="a1", tenant_id="acme", project_id="p", name="plan.pdf")
    insert(conn, "e", "ARTIFACT_INTEL", document_id="a1")
    assert drain().succeeded == 1
    ((id_, tenant, config),) = conn.execute('SELECT id, "tenantId", config FROM "PlatformJob"').fetchall()
    assert (tenant, config["artifactId"], config["artifactName"]) == ("acme", "a1", "plan.pdf")
    assert conn.execute("SELECT event_id, job_id FROM ledger_job").fetchall() == [("e", id_)]


def test_an_event_of_an_artifact_that_was_deleted_fails_with_the_reason(conn: Any) -> None:
    insert(conn, "e", "ARTIFACT_INTEL", document_id="gone")
    drain()
    assert event(conn, "e")["status"] == "failed" and "was deleted" in event(conn, "e")["last_error"]
