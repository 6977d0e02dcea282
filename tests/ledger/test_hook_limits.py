"""A hook that does not return is given up: its event is told so, everything else goes on, and what it does later is nothing."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import connections

from jobs.ledger.processor import MOST_HANGING
from jobs.workers.ledger import Drainer
from tests.ledger import kit
from tests.ledger.helpers import due_now, event, insert, said, statuses
from tests.ledger.kit import KIT
from tests.workers.helpers import wait_for

LATE = "the hook did not return within 0.4 s and was given up"


@pytest.fixture
def drainer(conn: Any, settings: Any) -> Iterator[Drainer]:
    """A drainer whose hooks hang no longer than the test."""
    kit.go_on.clear()
    settings.DETIQ = replace(settings.DETIQ, ledger_hook_seconds=0.6)
    made = Drainer()
    yield made
    kit.go_on.set()
    for _, thread in made._given_up:
        thread.join(10)
    made.close()
    connections.close_all()


@pytest.mark.parametrize("hook", ["HANGS", "HANGS_OUTSIDE", "HANGS_IN_SQL"])
def test_what_hangs_is_given_up_and_the_others_run(conn: Any, drainer: Drainer, hook: str) -> None:
    for n in range(3):
        insert(conn, f"before-{n}")
    insert(conn, "hangs", hook)
    for n in range(3):
        insert(conn, f"after-{n}")
    began = time.monotonic()
    done = drainer.drain_for(10)
    assert time.monotonic() - began < 4
    assert (done.succeeded, done.failed) == (6, 0) and done.retried >= 1
    row = event(conn, "hangs")
    assert (row["status"], row["attempts"], row["last_error"]) == ("pending", 1, LATE)
    assert row["next_attempt_at"] is not None and row["claim_token"] is None
    assert all(event(conn, f"{when}-{n}")["attempts"] == 1 for when in ("before", "after") for n in range(3))
    assert all(said(conn, f"{when}-{n}") == ["ran"] for when in ("before", "after") for n in range(3)), "each once"
    assert "undone" not in said(conn)


def test_what_it_has_locked_is_free_at_once(conn: Any, drainer: Drainer) -> None:
    insert(conn, "hangs", "HANGS")
    drainer.drain_for(5)
    with conn.transaction():
        conn.execute("SET LOCAL lock_timeout = '2s'")
        conn.execute("LOCK TABLE ledger_test IN ACCESS EXCLUSIVE MODE")


def test_when_it_comes_back_it_changes_nothing(conn: Any, drainer: Drainer) -> None:
    insert(conn, "hangs", "HANGS_OUTSIDE")
    drainer.drain_for(5)
    left = list(drainer._given_up)
    due_now(conn)
    conn.execute("UPDATE document_lifecycle_events SET hook_type = 'NOTE'")
    assert drainer.drain_for(5).succeeded == 1
    before = event(conn, "hangs")
    kit.go_on.set()
    for _, thread in left:
        thread.join(10)
        assert not thread.is_alive()
    assert event(conn, "hangs") == before
    assert drainer._hanging("HANGS_OUTSIDE") == 0


def test_the_last_attempt_fails(conn: Any, drainer: Drainer) -> None:
    insert(conn, "hangs", "HANGS", attempts=4)
    assert drainer.drain_for(5).failed == 1
    assert (event(conn, "hangs")["status"], event(conn, "hangs")["last_error"]) == ("failed", LATE)


def test_a_hook_may_name_a_longer_time_and_others_have_the_settings(conn: Any, drainer: Drainer) -> None:
    insert(conn, "long", "TAKES_ITS_TIME")
    insert(conn, "slow", "NOTE_SLOWLY", payload_json='{"seconds": 2}')
    drainer.drain_for(8)
    assert event(conn, "long")["status"] == "succeeded"
    assert "within 0.6 s" in event(conn, "slow")["last_error"]


def test_threads_do_not_pile_up(conn: Any, drainer: Drainer) -> None:
    for n in range(MOST_HANGING + 2):
        insert(conn, f"h{n}", "HANGS_OUTSIDE")
    insert(conn, "other")
    drainer.drain_for(15)
    errors = sorted(event(conn, f"h{n}")["last_error"] for n in range(MOST_HANGING + 2))
    assert (
        errors[0].startswith(f"{MOST_HANGING} runs of hook HANGS_OUTSIDE hang") and errors.count(LATE) == MOST_HANGING
    )
    assert len(drainer._given_up) == MOST_HANGING and event(conn, "other")["status"] == "succeeded"
    kit.go_on.set()
    wait_for(lambda: drainer._hanging("HANGS_OUTSIDE") == 0)
    due_now(conn)
    drainer.drain_for(10)
    assert statuses(conn) == {"succeeded": MOST_HANGING + 3}


def test_a_real_worker_goes_on_with_its_other_work(conn: Any, worker_process: Any) -> None:
    worker = worker_process(**KIT, LEDGER_MAX_ATTEMPTS="1")
    for n in range(2):
        insert(conn, f"h{n}", "HANGS")
    insert(conn, "sql", "HANGS_IN_SQL")
    for n in range(5):
        insert(conn, f"e{n}")
    wait_for(lambda: statuses(conn) == {"succeeded": 5, "failed": 3}, 15)
    assert worker.output().count("ledger.hook_given_up") >= 3
    insert(conn, "later")
    wait_for(lambda: event(conn, "later")["status"] == "succeeded", 5)
    worker.terminate()
    assert worker.wait(15) == 0, "threads that hang do not keep the process from ending"
