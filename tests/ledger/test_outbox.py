"""The ledger's door: written with the document or not at all; every change guarded by what it expects."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from jobs.domain.errors import InvalidInput
from jobs.ledger import outbox
from jobs.ledger.outbox import NewEvent
from jobs.models import ProjectArtifact
from tests.ledger.helpers import event, insert, statuses

STALE = timedelta(minutes=5)


def claim(limit: int = 50, document_id: str | None = None) -> list[Any]:
    return outbox.claim_pending_batch(limit, 5, document_id)


# --- Writing ----------------------------------------------------------------------------------------------------------
def test_a_document_and_its_hooks_are_there_together_or_not_at_all(conn: Any) -> None:
    def save() -> str:
        return ProjectArtifact.objects.create(id="a1", tenant_id="acme", name="plan.pdf").id

    hooks = [NewEvent("ARTIFACT_INTEL"), NewEvent("NOTE", {"n": 1})]
    assert outbox.create_document_with_lifecycle(save, company_id="acme", hooks=hooks) == "a1"
    rows = outbox.pending_for_document("a1")
    assert [(row["hook_type"], row["payload_json"], row["attempts"]) for row in rows] == [
        ("ARTIFACT_INTEL", "{}", 0), ("NOTE", '{"n": 1}', 0),
    ]  # fmt: skip

    ProjectArtifact.objects.all().delete()
    with pytest.raises(InvalidInput, match="payload"):
        outbox.create_document_with_lifecycle(
            save, company_id="acme", hooks=[NewEvent("NOTE"), NewEvent("NOTE", {"n": float("nan")})]
        )
    assert ProjectArtifact.objects.count() == 0 and len(outbox.pending_for_document("a1")) == 2


def test_an_event_that_is_rolled_back_wakes_nobody_and_one_that_is_committed_does(
    conn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[str] = []
    monkeypatch.setattr(outbox, "_wake", woken.append)
    with pytest.raises(RuntimeError), transaction.atomic():
        outbox.enqueue(company_id="acme", document_id="d1", hook_type="NOTE")
        raise RuntimeError
    assert (woken, statuses(conn)) == ([], {})
    with transaction.atomic():
        outbox.enqueue(company_id="acme", document_id="d2", hook_type="NOTE")
        assert woken == []
    assert woken == ["d2"]


def test_a_broker_that_is_away_loses_nothing(conn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(document_id: str) -> None:
        raise ConnectionError("the broker is away")

    monkeypatch.setattr(outbox, "_wake", away)
    outbox.enqueue(company_id="acme", document_id="d", hook_type="NOTE")
    assert statuses(conn) == {"pending": 1}


@pytest.mark.parametrize(
    ("field", "value"), [("company_id", ""), ("document_id", "a\0b"), ("hook_type", "x" * 301), ("hook_type", "\ud800")]
)
def test_a_name_that_cannot_be_stored_is_refused_by_its_field(conn: Any, field: str, value: str) -> None:
    names = {"company_id": "acme", "document_id": "d", "hook_type": "NOTE"} | {field: value}
    with pytest.raises(InvalidInput) as refused:
        outbox.enqueue(**names)
    assert refused.value.field == field and statuses(conn) == {}


# --- Claiming ---------------------------------------------------------------------------------------------------------
def test_a_claim_takes_the_oldest_counts_the_attempt_and_never_takes_one_twice(conn: Any) -> None:
    for n in range(5):
        insert(conn, f"e{n}", created_at=f"2026-01-0{5 - n}")
    assert [one.id for one in claim(2)] == ["e4", "e3"]
    assert [(one.id, one.attempts) for one in claim()] == [("e2", 1), ("e1", 1), ("e0", 1)]
    assert claim() == [] and statuses(conn) == {"running": 5}


def test_a_claim_may_name_a_document(conn: Any) -> None:
    insert(conn, "a", document_id="d1")
    insert(conn, "b", document_id="d2")
    assert [one.id for one in claim(document_id="d2")] == ["b"]


def test_a_row_that_another_session_has_locked_is_passed_over(conn: Any, make_conn: Any) -> None:
    insert(conn, "a")
    insert(conn, "b")
    with make_conn().transaction() as _, conn.transaction():
        conn.execute("SELECT 1 FROM document_lifecycle_events WHERE id = 'a' FOR UPDATE")
        assert [one.id for one in claim()] == ["b"]


def test_of_events_that_say_the_same_one_runs_and_covers_those_that_were_there(conn: Any) -> None:
    for n in range(3):
        insert(conn, f"e{n}", document_id="d", payload_json='{"a": 1}')
    insert(conn, "other", document_id="d", payload_json='{"a": 2}')
    first, other = claim()
    assert (first.id, first.twins, other.id, other.twins) == ("e0", ["e1", "e2"], "other", [])
    insert(conn, "later", document_id="d", payload_json='{"a": 1}')
    assert claim() == []  # while one of them runs, no other does
    assert outbox.mark_succeeded(first)
    assert {event(conn, id)["status"] for id in ("e0", "e1", "e2")} == {"succeeded"}
    assert event(conn, "e1")["ran_with"] == "e0"
    assert [one.id for one in claim()] == ["later"]  # the document may have been saved again: it runs


# --- Fences -----------------------------------------------------------------------------------------------------------
def test_a_drainer_that_was_given_up_and_comes_back_changes_nothing(conn: Any) -> None:
    insert(conn, "e")
    (lost,) = claim()
    conn.execute("UPDATE document_lifecycle_events SET updated_at = now() - interval '1 hour'")
    assert outbox.reclaim_stale_running(STALE) == 1
    assert not outbox.mark_succeeded(lost)
    assert not outbox.mark_failed(lost, "x")
    assert not outbox.mark_retryable(lost, "x")
    (mine,) = claim()
    assert mine.attempts == 2
    assert not outbox.mark_succeeded(lost) and not outbox.release([lost])
    assert outbox.mark_succeeded(mine) and event(conn, "e")["status"] == "succeeded"


def test_a_claim_that_is_as_old_as_a_retry_is_not_taken_for_the_new_one(conn: Any) -> None:
    insert(conn, "e")
    (lost,) = claim()
    conn.execute("UPDATE document_lifecycle_events SET status = 'failed', claim_token = NULL")
    assert outbox.retry(["e"], 5)[0].changed
    (mine,) = claim()
    assert mine.attempts == lost.attempts == 1
    assert not outbox.mark_succeeded(lost) and event(conn, "e")["status"] == "running"


def test_ends_say_what_they_say(conn: Any) -> None:
    for n in range(3):
        insert(conn, f"e{n}", last_error="old")
    first, second, third = claim()
    assert outbox.mark_succeeded(first)
    assert outbox.mark_failed(second, "x" * 3000 + "\0")
    assert outbox.mark_retryable(third, "no\0", 60)
    row = event(conn, "e0")
    assert (row["status"], row["last_error"]) == ("succeeded", None) and row["completed_at"]
    row = event(conn, "e1")
    assert (row["status"], len(row["last_error"]), row["completed_at"]) == ("failed", 2000, None)
    row = event(conn, "e2")
    assert (row["status"], row["attempts"], row["last_error"]) == ("pending", 1, "no\ufffd")
    assert claim() == []  # its wait is not over


def test_what_was_claimed_and_not_begun_goes_back_without_counting(conn: Any) -> None:
    insert(conn, "e")
    assert outbox.release(claim()) == 1
    assert (event(conn, "e")["status"], event(conn, "e")["attempts"]) == ("pending", 0)


# --- Lists ------------------------------------------------------------------------------------------------------------
def test_failed_and_exhausted_are_listed_newest_change_first(conn: Any) -> None:
    for n in range(3):
        insert(conn, f"f{n}", status="failed", attempts=5, updated_at=f"2026-01-0{n + 1}")
        insert(conn, f"x{n}", attempts=5, updated_at=f"2026-01-0{n + 1}")
    insert(conn, "theirs", company_id="globex", status="failed")
    insert(conn, "waits", attempts=4)
    assert [row["id"] for row in outbox.failed_for_company("acme")] == ["f2", "f1", "f0"]
    assert [row["id"] for row in outbox.exhausted(5)] == ["x2", "x1", "x0"]


def test_counts_by_status_and_hook_are_bounded(conn: Any) -> None:
    for n in range(6):
        insert(conn, f"p{n}")
    insert(conn, "x", attempts=5, hook_type="MAIL")
    insert(conn, "f", status="failed", hook_type="MAIL")
    rows = {row["hook_type"]: row for row in outbox.status_counts(5, most=4)}
    assert (rows["NOTE"]["pending"], rows["MAIL"]["failed"], rows["MAIL"]["exhausted"]) == (4, 1, 1)
    assert outbox.oldest_due_seconds(5) is not None
