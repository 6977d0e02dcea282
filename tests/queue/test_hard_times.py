"""What a planner, a crowd and a full tenant do to a queue: never more than asked, never a deadlock, no rows shuffled."""

import random
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from jobs.domain.outcomes import Completed, Ended
from jobs.queue import liveness, transitions
from jobs.queue.statements import run
from jobs.queue.status import queue_status
from jobs.queue.sweep import Sweep
from tests.queue.helpers import claim, insert, row, running

NASTY = ["hashjoin", "mergejoin", "material", "memoize", "hashagg", "sort", "nestloop", "indexscan"]
STALE = timedelta(minutes=5)


def test_a_claim_takes_never_more_than_asked_whatever_the_planner_thinks(conn: Any) -> None:
    fill = """INSERT INTO "PlatformJob" (id, "tenantId", type, status, "finishedAt")
              SELECT %s || n, 'acme', 'CRAWL', %s, CASE WHEN %s = 'DONE' THEN now() END FROM generate_series(1, %s) n"""
    conn.execute('ALTER TABLE "PlatformJob" SET (autovacuum_enabled = off)')
    conn.execute(fill, ["d", "DONE", "DONE", 2000])
    conn.execute('ANALYZE "PlatformJob"')
    conn.execute(fill, ["q", "QUEUED", "QUEUED", 500])
    for name in NASTY:
        conn.execute(f"SET enable_{name} = off")
    started = set()
    for slots in [1] * 60 + [7] * 20:
        jobs = claim(conn, slots, tenant_cap=100_000).jobs
        assert len(jobs) == slots
        started |= {job.run.job_id for job in jobs}
        live = conn.execute("SELECT id FROM \"PlatformJob\" WHERE status = 'RUNNING'").fetchall()
        assert {id for (id,) in live} == started, "all that run were handed out"


def test_looks_at_a_tenant_at_its_cap_write_nothing(conn: Any) -> None:
    for id in ("r1", "r2"):
        insert(conn, id)
    assert len(claim(conn, 2, tenant_cap=2).jobs) == 2
    conn.execute("INSERT INTO \"PlatformJob\" (id, \"tenantId\", type) SELECT 'q' || n, 'acme', 'CRAWL' "
                 "FROM generate_series(1, 3000) n")  # fmt: skip
    whole = "SELECT md5(string_agg(ctid::text || xmin::text, ',' ORDER BY id)) FROM \"PlatformJob\""
    (before,) = conn.execute(whole).fetchone()
    for _ in range(50):
        assert claim(conn, 10, tenant_cap=2).jobs == []
    assert conn.execute(whole).fetchone() == (before,)


def test_heartbeats_and_progress_rewrite_a_row_in_its_place(conn: Any) -> None:
    runs = [running(conn, f"j{n}", tenantId=f"t{n}") for n in range(10)]
    conn.execute("SELECT pg_stat_force_next_flush()")
    seen = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'PlatformJob'"
    before = conn.execute(seen).fetchone()
    for percent in range(40):
        liveness.beat("w1", runs, conn)
        liveness.report_progress("w1", [liveness.Progress(run, percent, "page") for run in runs], conn)
    conn.execute("SELECT pg_stat_force_next_flush()")
    after = conn.execute(seen).fetchone()
    updated, in_place = after[0] - before[0], after[1] - before[1]
    assert updated >= 700 and in_place >= 0.8 * updated


def test_lost_runs_are_found_by_their_own_heartbeat_not_by_who_their_worker_is(conn: Any) -> None:
    """A worker that is in no list any more, and one whose name a living process has."""
    for id, worker in (("gone", "w-gone"), ("namesake", "pod-1")):
        insert(conn, id, status="RUNNING", workerId=worker)
    conn.execute(
        'UPDATE "PlatformJob" SET "startedAt" = now() - interval \'1 hour\', "heartbeatAt" = now() - interval \'1 hour\''
    )
    conn.execute("INSERT INTO worker (id, host, pid, slots) VALUES ('pod-1', 'pod', 1, 8)")
    insert(conn, "alive", status="RUNNING", workerId="pod-1")
    conn.execute('UPDATE "PlatformJob" SET "startedAt" = now(), "heartbeatAt" = now() WHERE id = \'alive\'')
    conn.execute("INSERT INTO sweep_duty (name, looked_at, ok_at) VALUES ('rescue', now(), now()) "
                 "ON CONFLICT (name) DO UPDATE SET looked_at = now(), grace_until = NULL")  # fmt: skip
    sweep(conn).full()
    assert [row(conn, id)["status"] for id in ("gone", "namesake", "alive")] == ["RETRY_WAIT", "RETRY_WAIT", "RUNNING"]


@pytest.mark.timeout(120)
def test_claims_sweeps_heartbeats_and_cancels_at_once_never_deadlock(conn: Any, make_conn: Any) -> None:
    for n in range(600):
        insert(conn, f"j{n}", tenantId=f"t{n % 20}")
    conn.execute("UPDATE \"PlatformJob\" SET status = 'RUNNING', \"workerId\" = 'gone', \"startedAt\" = now() - interval '1 hour' "
                 "WHERE id IN (SELECT id FROM \"PlatformJob\" LIMIT 200)")  # fmt: skip
    stop, trouble = threading.Event(), []

    def claimer(name: str) -> Callable[[Any, random.Random], None]:
        held: list[Any] = []

        def once(mine: Any, rng: random.Random) -> None:
            ends = [Ended(run, Completed(None)) for run in held[: rng.randrange(4)]]
            turn = claim(mine, 4, worker=name, ends=ends)
            del held[: len(ends)]
            held.extend(job.run for job in turn.jobs)
            if held:
                liveness.beat(name, held, mine)

        return once

    def sweeper(mine: Any, rng: random.Random) -> None:
        sweep(mine, rng).full()

    def canceller(mine: Any, rng: random.Random) -> None:
        ids = [f"j{rng.randrange(600)}" for _ in range(20)]
        transitions.request_cancel(ids, actor="kim", reason="because", using=mine)

    def work(once: Callable[[Any, random.Random], None], seed: int) -> None:
        mine, rng = make_conn(), random.Random(seed)
        while not stop.is_set():
            try:
                once(mine, rng)
            except psycopg.errors.LockNotAvailable:
                continue
            except Exception as error:  # noqa: BLE001 - told by the test
                trouble.append(error)
                return

    doers = [claimer("w1"), claimer("w2"), claimer("w3"), sweeper, sweeper, canceller, canceller]
    threads = [threading.Thread(target=work, args=(doer, n)) for n, doer in enumerate(doers)]
    for thread in threads:
        thread.start()
    time.sleep(6)
    stop.set()
    for thread in threads:
        thread.join(20)
    assert trouble == []


def test_a_row_that_an_idle_transaction_holds_stops_neither_sweep_nor_claim(conn: Any, make_conn: Any) -> None:
    for n in range(5):
        insert(conn, f"j{n}", tenantId=f"t{n}")
        insert(conn, f"wait{n}", status="RETRY_WAIT", nextRetryAt="2020-01-01")
    other = make_conn()
    other.autocommit = False
    other.execute("SELECT 1 FROM \"PlatformJob\" WHERE id IN ('j0', 'wait0') FOR UPDATE")
    began = time.monotonic()
    sweep(conn).full()
    jobs = claim(conn, 10, types=["CRAWL"], tenant_cap=10).jobs
    assert time.monotonic() - began < 5
    assert {job.run.job_id for job in jobs} == {f"{kind}{n}" for kind in ("j", "wait") for n in range(1, 5)}
    other.rollback()
    sweep(conn).full()
    assert {job.run.job_id for job in claim(conn, 10, tenant_cap=10).jobs} == {"j0", "wait0"}


def sweep(conn: Any, rng: random.Random | None = None) -> Sweep:
    return Sweep(conn, STALE, timedelta(seconds=15), 0.1, rng or random.Random(1))


@pytest.mark.parametrize("odd", ["-infinity", "infinity", "4713-01-01 BC", "294276-12-31"])
def test_a_job_of_no_time_is_claimed_and_ended_and_holds_up_no_other(conn: Any, odd: str) -> None:
    insert(conn, "queued", queuedAt=odd)
    insert(conn, "put back", requeuedAt=odd)
    insert(conn, "plain", tenantId="other")
    insert(conn, "runs", status="RUNNING", startedAt=odd, heartbeatAt="now", workerId="w0")
    jobs = claim(conn, 10).jobs
    assert {job.run.job_id for job in jobs} == {"queued", "put back", "plain"}
    assert transitions.request_cancel(["runs"], actor="kim", reason="r", using=conn)[0].changed
    assert transitions.force_cancel(["runs"], actor="kim", reason="r", using=conn)[0].changed
    transitions.finish("w1", [Ended(job.run, Completed(None)) for job in jobs], conn)
    assert conn.execute("SELECT bool_and(seconds BETWEEN 0 AND 1e12) FROM tally_delta").fetchone() == (True,)


def test_the_longest_wait_is_found_behind_any_number_of_tenants_and_odd_times(conn: Any) -> None:
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                    SELECT 'job-' || n, 'tenant-' || n, 'A_TYPE', '{}' FROM generate_series(1, 5001) n""")
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config, "queuedAt")
                    SELECT 'other-' || n, 'acme', 'Z_TYPE', '{}', t::timestamptz
                      FROM unnest('{-infinity,infinity,now}'::text[]) WITH ORDINALITY AS o (t, n)""")
    insert(conn, "late", type="Z_TYPE", tenantId="zz", queuedAt=datetime.now(UTC) - timedelta(hours=2))
    insert(
        conn, "came back", type="Z_TYPE", queuedAt=datetime.now(UTC) - timedelta(days=2), requeuedAt=datetime.now(UTC)
    )
    assert queue_status(conn).oldest_wait_seconds["Z_TYPE"] == pytest.approx(7200, abs=60)
    assert run("operation_live_wait", {}, conn)[0]["seconds"] == pytest.approx(7200, abs=60)


def test_how_long_they_wait_can_be_asked_whatever_times_they_have(conn: Any) -> None:
    for n, odd in enumerate(["-infinity", "infinity", "2999-01-01"]):
        insert(conn, f"j{n}", queuedAt=odd, type=f"t{n}")
    assert set(queue_status(conn).oldest_wait_seconds) == {"t0", "t1", "t2"}
    assert all(0 <= seconds < 1e12 for seconds in queue_status(conn).oldest_wait_seconds.values())
