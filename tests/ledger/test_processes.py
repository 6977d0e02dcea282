"""Real processes: killed between commit and drain, killed in the middle of a hook, two at once, ten thousand events."""

import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jobs.ledger import outbox
from tests.ledger.helpers import event, insert, said, statuses
from tests.ledger.kit import KIT
from tests.processes import Process, environment
from tests.workers.helpers import wait_for

BRISK = {**KIT, "JOB_WORKER_CONCURRENCY": "1", "LEDGER_STALE_MINUTES": "0.02"}


def test_a_saved_documents_hooks_run_within_moments_of_the_commit(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT, JOB_WORKER_POLL_INTERVAL_MS="60000")
    time.sleep(1)  # its first sweep is over: only the word of the commit is left
    began = time.monotonic()
    id_ = outbox.enqueue(company_id="acme", document_id="d", hook_type="NOTE")
    wait_for(lambda: event(conn, id_)["status"] == "succeeded", 5)
    assert time.monotonic() - began < 2


def test_rows_of_another_program_are_drained_within_a_poll(conn: Any, worker_process: Any) -> None:
    worker_process(**KIT)
    time.sleep(1)
    insert(conn, "e")
    wait_for(lambda: event(conn, "e")["status"] == "succeeded", 4)


def test_a_process_that_dies_between_commit_and_drain_loses_nothing(
    conn: Any, worker_process: Any, tmp_path: Path
) -> None:
    died = Process([sys.executable, "-m", "tests.ledger.program"], environment(**KIT), tmp_path / "log")
    try:
        assert died.wait(30) == 1
    finally:
        died.close()
    assert conn.execute('SELECT count(*) FROM "ProjectArtifact"').fetchone() == (1,)
    assert conn.execute("SELECT count(*) FROM huey_task").fetchone() == (0,)  # nobody was told
    worker_process(**KIT)
    wait_for(lambda: statuses(conn) == {"succeeded": 1})
    rows = conn.execute("""SELECT type, config ->> 'from' FROM "PlatformJob" """).fetchall()
    assert rows == [("NOOP", "the dead")]


def test_an_event_whose_process_is_killed_in_the_middle_runs_again(conn: Any, worker_process: Any) -> None:
    insert(conn, "e", "NOTE_OUTSIDE", payload_json='{"seconds": 60}')
    insert(conn, "inside", "NOTE_SLOWLY", payload_json='{"seconds": 0}')
    worker = worker_process(**BRISK)
    wait_for(lambda: said(conn, "e") == ["began"])
    worker.kill()
    assert event(conn, "e")["status"] == "running"
    worker_process(**BRISK)
    wait_for(lambda: statuses(conn) == {"succeeded": 2})
    assert said(conn, "e") == ["began", "began", "ended"] and event(conn, "e")["attempts"] == 2
    assert said(conn, "inside") == ["ran"]  # once, whatever was killed


def test_an_event_that_kills_every_process_ends_as_exhausted_and_its_neighbours_run(
    conn: Any, worker_process: Any
) -> None:
    insert(conn, "poison", "DIES")
    insert(conn, "neighbour")
    quick = {**BRISK, "LEDGER_MAX_ATTEMPTS": "2"}
    for _ in range(2):
        assert worker_process.start("worker", **quick, JOB_WORKER_POLL_INTERVAL_MS="300").wait(30) == 9
        time.sleep(1.3)
    worker_process(**quick)
    wait_for(lambda: event(conn, "neighbour")["status"] == "succeeded")
    wait_for(lambda: event(conn, "poison")["status"] == "pending")
    row = event(conn, "poison")
    assert (row["attempts"], row["last_error"]) == (2, "the process that ran it is gone (attempt 2)")
    time.sleep(1)
    assert said(conn, "poison") == ["began", "began"]
    assert [one["id"] for one in outbox.exhausted(2)] == ["poison"]


def test_a_worker_that_is_told_to_stop_ends_its_hook_and_puts_back_the_rest(conn: Any, worker_process: Any) -> None:
    for n in range(3):
        insert(conn, f"e{n}", "NOTE_OUTSIDE", payload_json='{"seconds": 1}', created_at=f"2026-01-0{n + 1}")
    worker = worker_process(**KIT)
    wait_for(lambda: said(conn) == ["began"])
    worker.signal(signal.SIGTERM)
    assert worker.wait(20) == 0
    assert said(conn) == ["began", "ended"]
    assert statuses(conn) == {"succeeded": 1, "pending": 2}


def test_two_drainers_never_have_one_event_at_once(conn: Any, worker_process: Any) -> None:
    for n in range(120):
        insert(
            conn, f"e{n}", "NOTE_OUTSIDE", document_id=f"d{n % 7}", payload_json=f'{{"seconds": 0.02, "n": {n % 40}}}'
        )
    drains = [worker_process.start("ledger", "drain", **KIT, LEDGER_BATCH="5") for _ in range(2)]
    assert [one.wait(60) for one in drains] == [0, 0]
    assert statuses(conn) == {"succeeded": 120}
    pids, twice = conn.execute(
        """SELECT count(DISTINCT pid), (SELECT count(*) FROM (SELECT 1 FROM ledger_test WHERE what = 'began'
                                                               GROUP BY event_id HAVING count(*) > 1) x)
             FROM ledger_test"""
    ).fetchone()
    assert (pids, twice) == (2, 0)


@pytest.mark.parametrize("one_document", [False, True])
def test_ten_thousand_events_are_drained_in_seconds(conn: Any, worker_process: Any, one_document: bool) -> None:
    conn.execute(
        """INSERT INTO document_lifecycle_events (company_id, document_id, hook_type, payload_json)
           SELECT 'acme', CASE WHEN %s THEN 'd' ELSE 'd' || n END, 'NOTE', json_build_object('n', n)::text
             FROM generate_series(1, 10000) n""",
        [one_document],
    )
    began = time.monotonic()
    worker_process(**KIT)
    wait_for(lambda: statuses(conn) == {"succeeded": 10_000}, 60)
    print(f"10,000 events in {time.monotonic() - began:.1f} s, the worker's start included")
    (took,) = conn.execute("SELECT extract(epoch FROM max(at) - min(at))::float FROM ledger_test").fetchone()
    print(f"first to last: {took:.1f} s")
    assert took < 20
    assert conn.execute("SELECT count(*), count(DISTINCT event_id) FROM ledger_test").fetchone() == (10_000, 10_000)
