"""What hooks and other programs do to an outbox that nobody meant: each costs its own event at most."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from jobs.ledger import hooks, outbox
from jobs.ledger.hooks import Event, Hook
from tests.ledger.helpers import due_now, event, insert, processor, said, statuses
from tests.ledger.kit import note


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("it has no words")


def drain_with(what: Callable[[Event], None], *, atomic: bool = True) -> Any:
    """One drain in which events of the hook ODD do this."""
    hook = Hook(what, atomic)
    return processor(find=lambda type_: hook if type_ == "ODD" else hooks.find(type_)).drain(30)


# --- What hooks do ----------------------------------------------------------------------------------------------------
def unspeakable(event: Event) -> None:
    raise Unspeakable


def cancelled(event: Event) -> None:
    raise asyncio.CancelledError  # no `Exception`, as several libraries' own


def nul(event: Event) -> None:
    raise RuntimeError("\x00\ud800" + "x" * 100_000)


def durable(event: Event) -> None:
    with transaction.atomic(durable=True):
        note(event, "undone")


def broken(event: Event) -> None:
    note(event, "undone")
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1/0")
    except Exception:  # noqa: BLE001, S110 - a hook that goes on in a transaction that is lost
        pass


def hangs_up(event: Event) -> None:
    note(event, "undone")
    connection.close()


def ends_its_session(event: Event) -> None:
    note(event, "undone")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


@pytest.mark.parametrize("atomic", [True, False])
@pytest.mark.parametrize("what", [unspeakable, cancelled, nul, durable, broken, hangs_up, ends_its_session])
def test_a_hook_that_goes_wrong_in_an_odd_way_costs_its_own_attempt_alone(
    conn: Any, what: Callable[[Event], None], atomic: bool
) -> None:
    insert(conn, "before", created_at="2026-01-01")
    insert(conn, "odd", "ODD", created_at="2026-01-02")
    insert(conn, "after")
    done = drain_with(what, atomic=atomic)
    fails = atomic or what not in (durable, broken, hangs_up)
    assert (done.succeeded, done.retried, done.lost) == (2, 1, 0) if fails else (3, 0, 0)
    row = event(conn, "odd")
    assert (row["status"], row["attempts"]) == ("pending" if fails else "succeeded", 1)
    assert bool(row["last_error"]) is fails and len(row["last_error"] or "") <= outbox.LONGEST_ERROR
    assert said(conn, "before") == said(conn, "after") == ["ran"]
    assert not (atomic and said(conn, "odd"))


def test_a_hook_may_have_savepoints_of_its_own(conn: Any) -> None:
    def careful(event: Event) -> None:
        note(event, "kept")
        try:
            with transaction.atomic():
                note(event, "undone")
                raise IntegrityError
        except IntegrityError:
            pass
        with transaction.atomic():
            note(event, "kept too")

    insert(conn, "odd", "ODD")
    assert drain_with(careful).succeeded == 1
    assert said(conn) == ["kept", "kept too"]


def test_a_hook_that_commits_by_itself_runs_at_least_once_and_ends(conn: Any) -> None:
    def commits(event: Event) -> None:
        note(event, "ran")
        with connection.cursor() as cursor:
            cursor.execute("COMMIT")

    insert(conn, "odd", "ODD", created_at="2026-01-01")
    insert(conn, "fails", "FAILS", created_at="2026-01-02")
    insert(conn, "after")
    done = drain_with(commits)
    assert (done.succeeded, done.retried) == (2, 1)
    assert "ran" in said(conn, "odd") and said(conn, "after") == ["ran"]


# --- How events are written -------------------------------------------------------------------------------------------
def test_what_a_savepoint_took_back_is_neither_there_nor_told(conn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    woken: list[str] = []
    monkeypatch.setattr(outbox, "_wake", woken.append)
    with transaction.atomic():
        outbox.enqueue(company_id="acme", document_id="kept", hook_type="NOTE")
        try:
            with transaction.atomic():
                outbox.enqueue(company_id="acme", document_id="undone", hook_type="NOTE")
                raise IntegrityError
        except IntegrityError:
            pass
    assert woken == ["kept"] and statuses(conn) == {"pending": 1}


def test_hooks_of_one_transaction_run_in_the_order_in_which_they_were_written(conn: Any) -> None:
    with transaction.atomic():
        for n in range(20):
            outbox.enqueue(company_id="acme", document_id="d", hook_type="ODD", payload={"n": n})
    ran: list[int] = []
    drain_with(lambda event: ran.append(event.payload["n"]), atomic=False)
    assert ran == list(range(20))


ODD_ROWS: dict[str, dict[str, Any]] = {
    "future": {"created_at": "2999-01-01", "updated_at": "2999-01-01"},
    "never": {"created_at": "infinity", "updated_at": "infinity"},
    "always": {"created_at": "-infinity", "updated_at": "-infinity", "next_attempt_at": "-infinity"},
    "waits": {"next_attempt_at": "infinity"},
    "negative": {"attempts": -3},
    "empty names": {"company_id": "", "document_id": ""},
    "odd names": {"company_id": "a\u202eb\n" * 50, "document_id": "<script>/../" * 100},
    "huge": {"payload_json": '{"x": "' + "y" * 5_000_000 + '"}'},
}


@pytest.mark.parametrize("name", ODD_ROWS)
def test_an_odd_row_of_another_program_runs_and_can_be_looked_at(conn: Any, name: str) -> None:
    insert(conn, name, **ODD_ROWS[name])
    assert outbox.pending_for_document(ODD_ROWS[name].get("document_id", f"doc-{name}"))
    outbox.oldest_due_seconds(5)
    assert processor().drain(30).succeeded == 1 and said(conn) == ["ran"]
    for state in ({"status": "failed", "attempts": 5}, {"status": "pending", "attempts": 5}):
        times = {key: value for key, value in ODD_ROWS[name].items() if key.endswith("_at")}
        row = state | times
        conn.execute(
            f"UPDATE document_lifecycle_events SET {', '.join(f'{key} = %s' for key in row)}",  # noqa: S608
            list(row.values()),
        )
        assert outbox.failed_for_company(ODD_ROWS[name].get("company_id", "acme")) or outbox.exhausted(5)
        assert outbox.status_counts(5)
        assert outbox.stuck_ids("stuck", 5, 10) == [name]
    with transaction.atomic():
        assert [one.changed for one in outbox.retry([name], 5)] == [True]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"payload_json": ""}, ""),
        ({"payload_json": "NaN"}, ""),
        ({"payload_json": '{"a": 1, "a": 2}'}, ""),
        ({"hook_type": ""}, "no handler for hook type"),
        ({"status": "paused"}, "stays"),
        ({"attempts": 2_147_483_647}, "stays"),
    ],
)
def test_a_row_that_makes_no_sense_ends_or_stays_and_says_why(conn: Any, row: dict[str, Any], says: str) -> None:
    insert(conn, "odd", **{"hook_type": "NOTE", "created_at": "2026-01-01"} | row)
    insert(conn, "good")
    processor().reclaim()
    processor().drain(30)
    assert event(conn, "good")["status"] == "succeeded"
    found = event(conn, "odd")
    if says == "stays":
        assert {name: found[name] for name in row} == row and said(conn, "odd") == []
    else:
        assert says in (found["last_error"] or "")


def test_two_releases_at_once_share_the_work(conn: Any) -> None:
    """The old one does not know the new hook: it costs attempts, and the new one does it."""
    insert(conn, "new", "ODD")
    insert(conn, "old")
    old = processor()
    assert (old.drain(30).succeeded, event(conn, "new")["status"]) == (1, "pending")
    assert "no handler for hook type ODD" in event(conn, "new")["last_error"]
    due_now(conn)
    assert drain_with(lambda event: note(event, "ran")).succeeded == 1
    assert said(conn, "new") == ["ran"] and event(conn, "new")["attempts"] == 2
