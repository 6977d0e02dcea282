"""Workers whose clocks are wrong by hours: nothing that is stored or decided comes from them."""

import time
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from tests.processes import ROOT
from tests.queue.helpers import insert, row
from tests.workers.helpers import KIT, wait_for, wait_status

TWO_HOURS = 7200


@pytest.mark.parametrize("skew", [TWO_HOURS, -TWO_HOURS])
def test_a_workers_clock_decides_nothing(conn: Any, worker_process: Any, skew: int) -> None:
    """Two workers, the clock of one right: neither gives up what the other runs, and every time is the database's."""
    wrong = {"PYTHONPATH": str(ROOT / "tests/workers/skewed"), "SKEW_SECONDS": str(skew)}
    worker = worker_process(**KIT, **wrong, JOB_STALE_TIMEOUT_MINUTES="0.05", JOB_WORKER_POLL_INTERVAL_MS="200")
    before = now(conn)
    insert(conn, "long", type="STEPS", config='{"n": 50, "pause": 0.1}', tenantId="a")
    insert(conn, "fails", type="FAIL", tenantId="b")
    named = format_datetime((before + timedelta(minutes=10)).replace(microsecond=0), usegmt=True)
    insert(conn, "named", type="FAIL", tenantId="c", config=f'{{"error": "HTTP 503, Retry-After: {named}"}}')
    wait_status(conn, "long", "RUNNING")
    other = worker_process(**KIT, JOB_STALE_TIMEOUT_MINUTES="0.05", JOB_WORKER_POLL_INTERVAL_MS="200")
    wait_for(lambda: all(row(conn, id)["status"] == "RETRY_WAIT" for id in ("fails", "named")))
    wait_status(conn, "long", "DONE", 20)
    assert conn.execute("SELECT count(*) FROM job_history WHERE job_id = 'long'").fetchone() == (3,), "it ran once"
    for id in ("long", "fails", "named"):
        job = row(conn, id)
        assert before <= job["startedAt"] <= job["finishedAt"] <= now(conn)
    lines = conn.execute("SELECT min(at), max(at) FROM job_log WHERE job_id = 'long'").fetchone()
    assert row(conn, "long")["startedAt"] <= lines[0] <= lines[1] <= now(conn), "its log is told by the same clock"
    waits = {id: (row(conn, id)["nextRetryAt"] - before).total_seconds() for id in ("fails", "named")}
    assert 30 <= waits["fails"] < 60 and 599 <= waits["named"] < 690, waits
    assert "Traceback" not in worker.output() + other.output()


def test_a_lost_run_is_found_by_a_sweeper_whose_clock_is_behind(conn: Any, worker_process: Any) -> None:
    insert(conn, "j", type="NOOP", status="RUNNING", workerId="gone", startedAt=now(conn), heartbeatAt=now(conn))
    wrong = {"PYTHONPATH": str(ROOT / "tests/workers/skewed"), "SKEW_SECONDS": str(-TWO_HOURS)}
    started = time.monotonic()
    worker_process(**KIT, **wrong, JOB_STALE_TIMEOUT_MINUTES="0.03", JOB_WORKER_POLL_INTERVAL_MS="200")
    wait_status(conn, "j", "RETRY_WAIT", 15)
    assert time.monotonic() - started > 1.5


def now(conn: Any) -> Any:
    return conn.execute("SELECT clock_timestamp()").fetchone()[0]
