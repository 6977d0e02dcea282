"""Faults that outboxes are known for: attempts without end, rows that nobody owns, promises of a retry that never comes."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from jobs.ledger import outbox
from jobs.operations import ledger as operations
from jobs.operations.actions import Person
from jobs.queue.retention import Retention
from tests.ledger.helpers import due_now, event, insert, processor, said, statuses

MOST = 5
LONG_AGO = "2026-01-01T00:00Z"
KIM = Person("kim")


def claim() -> list[str]:
    return [one.id for one in outbox.claim_pending_batch(10, MOST)]


def test_attempts_never_exceed_the_most_whatever_dies(conn: Any) -> None:
    insert(conn, "fresh")
    insert(conn, "nearly", status="running", attempts=MOST - 1, updated_at=LONG_AGO)
    insert(conn, "over", status="running", attempts=MOST, updated_at=LONG_AGO)
    insert(conn, "failed", status="failed", attempts=MOST)
    insert(conn, "failed-early", status="failed", attempts=2)
    claimed: list[str] = []
    for _ in range(5):
        processor().reclaim()
        claimed += claim() + claim()  # what was tried before is claimed alone
        conn.execute("UPDATE document_lifecycle_events SET updated_at = %s WHERE status = 'running'", [LONG_AGO])
    processor().reclaim()
    assert claimed.count("nearly") == 1 and claimed.count("fresh") == MOST and len(claimed) == MOST + 1
    assert event(conn, "over")["status"] == "pending" and event(conn, "over")["attempts"] == MOST
    assert {row["id"] for row in outbox.exhausted(MOST)} == {"over", "nearly", "fresh"}
    assert (event(conn, "failed")["attempts"], event(conn, "failed-early")["attempts"]) == (MOST, 2)
    assert outbox.status_counts(MOST)[0]["exhausted"] == 3


def test_a_retry_that_is_promised_comes(conn: Any) -> None:
    insert(conn, "failed", status="failed", attempts=MOST, last_error="away")
    for n in range(100):
        insert(conn, f"x{n}", attempts=MOST)
    insert(conn, "running", status="running", attempts=1)
    insert(conn, "done", status="succeeded", attempts=1)
    operations.retry(KIM, "failed", "the index is back")
    assert (event(conn, "failed")["attempts"], event(conn, "failed")["last_error"]) == (0, "away")
    assert operations.retry_chosen(KIM, operations.Chosen("exhausted"), "the index is back") == 100
    for id in ("running", "done"):
        with pytest.raises(operations.EventRefused):
            operations.retry(KIM, id, "x")
    assert processor().drain(60).succeeded == 101
    assert statuses(conn) == {"running": 1, "succeeded": 102}


@pytest.mark.parametrize("when", [LONG_AGO, "2099-01-01T00:00Z", None])
def test_a_running_row_with_any_time_and_no_owner_is_taken_back(conn: Any, when: str | None) -> None:
    conn.execute("ALTER TABLE document_lifecycle_events ALTER updated_at DROP NOT NULL")
    try:
        insert(conn, "e", status="running", updated_at=when, attempts=1)
        assert processor().reclaim() == 1
        assert claim() == ["e"]
    finally:
        conn.execute("UPDATE document_lifecycle_events SET updated_at = now()")
        conn.execute("ALTER TABLE document_lifecycle_events ALTER updated_at SET NOT NULL")


def test_a_wait_that_ends_in_the_far_future_ends_now(conn: Any) -> None:
    insert(conn, "e", next_attempt_at="2099-01-01T00:00Z")
    insert(conn, "waits", next_attempt_at=datetime.now(UTC) + timedelta(minutes=5))
    assert claim() == ["e"]


def test_an_event_that_is_there_twice_runs_once(conn: Any) -> None:
    insert(conn, "a", document_id="d")
    insert(conn, "b", document_id="d")
    processor().drain(30)
    assert len(said(conn)) == 1 and statuses(conn) == {"succeeded": 2}


def test_an_exhausted_twin_does_not_keep_a_new_event_waiting(conn: Any) -> None:
    insert(conn, "a", document_id="d", attempts=MOST)
    insert(conn, "b", document_id="d")
    assert claim() == ["b"]


def test_a_neighbour_of_what_kills_its_process_loses_one_attempt_at_most(conn: Any) -> None:
    insert(conn, "poison", created_at=LONG_AGO)
    insert(conn, "neighbour")
    assert claim() == ["poison", "neighbour"]
    for _ in range(4):
        conn.execute("UPDATE document_lifecycle_events SET updated_at = %s WHERE status = 'running'", [LONG_AGO])
        processor().reclaim()
        assert claim() == ["poison"]
    assert event(conn, "neighbour")["attempts"] == 1


def test_one_that_fails_among_many_is_tried_alone_and_the_others_are_done(conn: Any) -> None:
    for n in range(20):
        insert(conn, f"e{n}", "FAILS" if n == 7 else "NOTE")
    done = processor().drain(30)
    assert (done.succeeded, done.retried) == (19, 1) and len(said(conn)) == 19
    due_now(conn)
    assert processor().drain(30).retried == 1


def test_what_succeeded_long_ago_goes_and_what_is_stuck_stays(conn: Any) -> None:
    insert(conn, "old", status="succeeded", updated_at="2020-01-01")
    insert(conn, "new", status="succeeded")
    insert(conn, "stuck", status="failed", updated_at="2020-01-01")
    conn.execute("INSERT INTO ledger_job (event_id, job_id, document_id) VALUES ('old', 'j', 'd'), ('new', 'k', 'd')")
    retention = Retention(timedelta(days=90))
    (done,) = retention.prune([one for one in retention.all() if one.name == "ledger"], 5)
    assert (done.pruned, done.rows_left, done.error) == (1, 0, None)
    assert {event_id for (event_id,) in conn.execute("SELECT event_id FROM ledger_job").fetchall()} == {"new"}
    assert not event(conn, "old") and event(conn, "stuck")


def test_the_commands(conn: Any, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    insert(conn, "e", status="failed", attempts=5)
    insert(conn, "bad", payload_json="{")

    def said_by(*arguments: str) -> Any:
        call_command("ledger", *arguments, "--json")
        return json.loads(capsys.readouterr().out)

    assert said_by("status")["totals"]["failed"] == 1
    assert said_by("retry", "--hook", "NOTE", "--reason", "x") == {"retried": 1}
    assert (said_by("drain")["succeeded"], said_by("status")["totals"]["failed"]) == (1, 1)
    call_command("ledger", "status")
    assert "1 failed" in capsys.readouterr().out
    with pytest.raises(CommandError) as refused:
        call_command("ledger", "retry", "--id", "nowhere", "--reason", "x")
    assert refused.value.returncode == 1
