"""A cap that is changed while real workers run: never one job too many, never one that is stopped."""

import time
from datetime import timedelta
from typing import Any

from jobs.queue import caps
from jobs.queue.caps import Cap, Wanted
from tests.queue.helpers import insert
from tests.workers.helpers import KIT, wait_for


def change(conn: Any, number: int, **more: Any) -> None:
    caps.change("tenant", "acme", Wanted(Cap(number), **more), seen=None, actor="kim", using=conn)


def count(conn: Any, status: str) -> int:
    return int(conn.execute('SELECT count(*) FROM "PlatformJob" WHERE status = %s', [status]).fetchone()[0])


def let_end(conn: Any, n: int) -> None:
    """Lets so many of the running ones end as done by asking no one: their steps are over."""
    conn.execute(
        """UPDATE "PlatformJob" SET status = 'CANCEL_REQUESTED'
            WHERE id IN (SELECT id FROM "PlatformJob" WHERE status = 'RUNNING' ORDER BY id LIMIT %s)""",
        [n],
    )
    wait_for(lambda: count(conn, "CANCEL_REQUESTED") == 0, 8)


def test_raising_starts_one_more_and_lowering_waits_for_enough_to_end(conn: Any, worker_process: Any) -> None:
    poll = timedelta(milliseconds=300)
    worker_process(**KIT, JOB_WORKER_POLL_INTERVAL_MS="300", JOB_WORKER_CONCURRENCY="10")
    change(conn, 4)
    for n in range(24):
        insert(conn, f"j{n:02}", type="STEPS", config='{"n": 100000, "pause": 0.1}')
    wait_for(lambda: count(conn, "RUNNING") == 4)
    change(conn, 5)
    time.sleep(2 * poll.total_seconds() + 0.3)
    assert count(conn, "RUNNING") == 5
    change(conn, 2)
    time.sleep(2 * poll.total_seconds() + 0.3)
    assert count(conn, "RUNNING") == 5, "lowering stops nothing"
    let_end(conn, 3)
    time.sleep(2 * poll.total_seconds())
    assert count(conn, "RUNNING") == 2 and count(conn, "QUEUED") == 19, "two still run: nothing new has started"
    let_end(conn, 1)
    wait_for(lambda: count(conn, "RUNNING") == 2 and count(conn, "QUEUED") == 18)


def test_a_cap_with_an_end_is_put_back_by_the_workers_sweep_and_what_waited_starts(
    conn: Any, worker_process: Any
) -> None:
    worker_process(**KIT, JOB_WORKER_POLL_INTERVAL_MS="400")
    change(conn, 0, ends_in_seconds=1.5)
    insert(conn, "j", type="NOOP")
    time.sleep(0.8)
    assert count(conn, "QUEUED") == 1
    wait_for(lambda: count(conn, "DONE") == 1, 8)
    wait_for(lambda: caps.of("tenant", "acme", conn).ends_at is None, 8)
    assert conn.execute("SELECT actor, action FROM audit_entry").fetchall() == [("sweep", "cap")]
    assert caps.of("tenant", "acme", conn).cap == Cap()
