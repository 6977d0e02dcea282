"""What may run now: order, turns, caps, pauses; exact with many claimers at once."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.domain.outcomes import ClaimRequest, Completed, Ended
from jobs.queue import pauses, transitions
from jobs.queue.statements import run
from tests.queue.helpers import claim, claim_one, insert


def claimed(turn: Any) -> list[str]:
    return sorted(job.run.job_id for job in turn.jobs)


def test_priority_goes_first_then_how_long_a_job_waits(conn: Any) -> None:
    insert(conn, "new")
    insert(conn, "old", queuedAt=datetime(2020, 1, 1, tzinfo=UTC))
    insert(conn, "urgent", priority=5)
    assert [claim_one(conn).run.job_id for _ in range(3)] == ["urgent", "old", "new"]


def test_a_job_that_was_requeued_waits_from_then_on(conn: Any) -> None:
    insert(conn, "x", queuedAt=datetime(2020, 1, 1, tzinfo=UTC), requeuedAt=datetime.now(UTC))
    insert(conn, "y", queuedAt=datetime(2021, 1, 1, tzinfo=UTC))
    assert claim_one(conn).run.job_id == "y"


def test_tenants_take_turns(conn: Any) -> None:
    for n in range(6):
        insert(conn, f"a{n}", tenantId="a")
    insert(conn, "b0", tenantId="b")
    insert(conn, "c0", tenantId="c")
    assert {job.tenant_id for job in claim(conn, 3).jobs} == {"a", "b", "c"}
    after = "a"
    insert(conn, "b1", tenantId="b")
    assert claim_one(conn, after=after).tenant_id == "b"


def test_the_ring_goes_round(conn: Any) -> None:
    insert(conn, "a0", tenantId="a")
    insert(conn, "b0", tenantId="b")
    assert claim_one(conn, after="b").tenant_id == "a"
    assert claim_one(conn, after="b").tenant_id == "b"
    insert(conn, "e", tenantId="")
    assert claim_one(conn, after="b").tenant_id == ""
    for tenant in "cadb":
        insert(conn, tenant, tenantId=tenant)
    # The database says who comes last: whoever sorted them again might sort them otherwise (de_DE: a, B, c).
    assert [job.tenant_id for job in claim(conn, 4, after="b").jobs] == ["c", "d", "a", "b"]


def test_never_more_than_asked_whatever_the_planner_thinks(conn: Any) -> None:
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config, status)
                    SELECT 'd' || n, 'acme', 'CRAWL', '{}', 'DONE' FROM generate_series(1, 2000) n""")
    conn.execute('ANALYZE "PlatformJob"')
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                    SELECT 'q' || n, 'acme', 'CRAWL', '{}' FROM generate_series(1, 500) n""")
    for name in ("hashjoin", "mergejoin", "material", "memoize", "hashagg", "sort"):
        conn.execute(f"SET enable_{name} = off")
    total = 0
    for slots in [1] * 60 + [7] * 20:
        got = claim(conn, slots, tenant_cap=10_000).jobs
        total += len(got)
        assert len(got) <= slots
        assert conn.execute("""SELECT count(*) FROM "PlatformJob" WHERE status = 'RUNNING'""").fetchone() == (total,)
    assert total == 200


def test_a_tenant_runs_no_more_than_its_cap(conn: Any) -> None:
    for n in range(10):
        insert(conn, f"j{n}")
    first = claim(conn, 8)
    assert len(first.jobs) == 4
    assert claim(conn, 8).jobs == []
    assert len(claim(conn, 8, ends=[Ended(first.jobs[0].run, Completed("1"))]).jobs) == 1


@pytest.mark.parametrize(
    ("cap", "unlimited", "runs"), [(0, False, 0), (2, False, 2), (None, True, 10), (None, False, 4)]
)
def test_a_tenants_own_cap(conn: Any, cap: int | None, unlimited: bool, runs: int) -> None:
    conn.execute(
        "INSERT INTO tenant_setting (tenant_id, cap, unlimited, updated_by) VALUES ('acme', %s, %s, 'x')",
        [cap, unlimited],
    )
    for n in range(10):
        insert(conn, f"j{n}")
    assert sum(len(claim(conn, 10).jobs) for _ in range(3)) == runs


@pytest.mark.parametrize(("cap", "unlimited"), [(0, False), (None, True)])
def test_a_cap_that_has_ended_gives_way_to_the_one_before(conn: Any, cap: int | None, unlimited: bool) -> None:
    conn.execute(
        """INSERT INTO tenant_setting (tenant_id, cap, unlimited, ends_at, previous_cap, updated_by)
           VALUES ('acme', %s, %s, now(), 2, 'x')""",
        [cap, unlimited],
    )
    for n in range(4):
        insert(conn, f"j{n}")
    assert len(claim(conn, 4).jobs) == 2


def test_jobs_asked_to_cancel_still_fill_the_cap_and_inline_ones_do_not(conn: Any) -> None:
    for n in range(2):
        insert(conn, f"c{n}", status="CANCEL_REQUESTED")
    insert(conn, "i", status="RUNNING", inline=True)
    for n in range(5):
        insert(conn, f"j{n}")
    assert len(claim(conn, 8).jobs) == 2


def test_a_types_cap_counts_all_of_its_runs_inline_ones_too(conn: Any) -> None:
    insert(conn, "i", type="DISCOVER", status="RUNNING", inline=True, tenantId="z")
    for n in range(4):
        insert(conn, f"d{n}", type="DISCOVER", tenantId=f"t{n}")
        insert(conn, f"c{n}", type="CRAWL", tenantId=f"t{n}")
    jobs = claim(conn, 8).jobs
    assert sorted(job.type for job in jobs) == ["CRAWL"] * 4 + ["DISCOVER"]


def test_only_types_that_the_worker_has_a_handler_for(conn: Any) -> None:
    insert(conn, "x", type="UNKNOWN")
    insert(conn, "y", type="CRAWL")
    assert claimed(claim(conn, 8)) == ["y"]


def test_a_job_queued_for_later_starts_when_its_time_has_come(conn: Any) -> None:
    insert(conn, "later", nextRetryAt=datetime.now(UTC) + timedelta(hours=1))
    insert(conn, "due", nextRetryAt=datetime.now(UTC) - timedelta(seconds=1))
    assert claimed(claim(conn, 8)) == ["due"]


def test_a_locked_row_is_passed_over(conn: Any, make_conn: Any) -> None:
    insert(conn, "first", queuedAt=datetime(2020, 1, 1, tzinfo=UTC))
    insert(conn, "second")
    other = make_conn()
    other.autocommit = False
    other.execute("""SELECT * FROM "PlatformJob" WHERE id = 'first' FOR UPDATE""")
    assert claimed(claim(conn, 8, tenant_cap=1)) == ["second"]


# --- Pauses -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("scope", "left"),
    [
        ({}, []),
        ({"type": "CRAWL"}, ["b1", "bp"]),
        ({"tenant_id": "a"}, ["b1", "b2", "bp"]),
        ({"project_id": "p"}, ["a1", "a2", "b1", "b2"]),
        ({"type": "CRAWL", "tenant_id": "a"}, ["b1", "b2", "bp"]),
        ({"type": "OTHER", "tenant_id": "b"}, ["a1", "a2", "b2"]),
    ],
)
def test_a_pause_holds_its_scope_and_nothing_else(conn: Any, scope: dict[str, str], left: list[str]) -> None:
    insert(conn, "a1", tenantId="a")
    insert(conn, "a2", tenantId="a")
    insert(conn, "b1", tenantId="b", type="OTHER")
    insert(conn, "b2", tenantId="b")
    insert(conn, "bp", tenantId="b", type="OTHER", projectId="p")
    pauses.pause(reason="r", owner="kim", **scope, using=conn)
    assert claimed(claim(conn, 8)) == left


def test_the_flag_of_other_programs_pauses_everything(conn: Any) -> None:
    insert(conn, "j")
    conn.execute("""INSERT INTO "SystemConfig" (key, value) VALUES ('queue.paused', 'true')""")
    assert claim(conn, 8).jobs == []
    assert transitions.claim_job("j", "w", ClaimRequest(1, ["CRAWL"], 4, {}), conn) is None
    conn.execute("""UPDATE "SystemConfig" SET value = 'false'""")
    assert claimed(claim(conn, 8)) == ["j"]


def test_a_pause_with_an_end_ends_by_the_databases_clock(conn: Any) -> None:
    insert(conn, "j")
    pauses.pause(reason="r", owner="kim", ends_in_seconds=0.2, using=conn)
    assert claim(conn, 1).jobs == []
    conn.execute("SELECT pg_sleep(0.3)")
    assert pauses.expire(10, actor="sweep", using=conn) and pauses.expire(10, actor="sweep", using=conn) == []
    assert claimed(claim(conn, 1)) == ["j"]


def test_a_paused_project_does_not_hold_its_tenants_other_jobs_behind_it(conn: Any) -> None:
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", "projectId", type, config, "queuedAt")
                    SELECT 'p' || n, 'acme', 'p', 'CRAWL', '{}', '2020-01-01' FROM generate_series(1, 2000) n""")
    insert(conn, "free")
    pauses.pause(reason="r", owner="kim", project_id="p", using=conn)
    assert claimed(claim(conn, 8)) == ["free"]


def test_claim_job_obeys_the_same_rules(conn: Any) -> None:
    request = ClaimRequest(1, ["CRAWL"], 1, {"DISCOVER": 0})
    insert(conn, "d", type="DISCOVER", tenantId="z")
    assert transitions.claim_job("d", "w", request, conn) is None
    insert(conn, "a")
    insert(conn, "b")
    job = transitions.claim_job("a", "w", request, conn)
    assert job is not None and job.run.job_id == "a"
    assert transitions.claim_job("b", "w", request, conn) is None, "the tenant is at its cap"
    assert transitions.claim_job("a", "w", request, conn) is None, "it runs already"
    assert transitions.claim_job("nope", "w", request, conn) is None


# --- Many at once -----------------------------------------------------------------------------------------------------
MOST_AT_ONCE = """
WITH moments AS (
    SELECT "tenantId" AS tenant, type, started AS at, 1 AS step FROM runs
    UNION ALL
    SELECT "tenantId", type, ended, -1 FROM runs
)
SELECT max(running) FROM (
    SELECT sum(step) OVER (PARTITION BY {by} ORDER BY at, step) AS running FROM moments {where}
) m
"""


def test_caps_hold_exactly_with_sixteen_claimers(conn: Any, make_conn: Any) -> None:
    """Read from the rows' own times, not from samples."""
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                    SELECT 'j' || n, 't' || (n % 3), CASE WHEN n % 4 = 0 THEN 'DISCOVER' ELSE 'CRAWL' END, '{}'
                      FROM generate_series(1, 600) n""")
    stop = threading.Event()
    errors: list[BaseException] = []

    def work(number: int, mine: Any) -> None:
        ends: list[Ended] = []
        try:
            while not stop.is_set():
                turn = claim(mine, 3, worker=f"w{number}", ends=ends, after=f"t{number % 3}")
                ends = [Ended(job.run, Completed("1")) for job in turn.jobs]
                stop.wait(0.002)
            claim(mine, 0, worker=f"w{number}", ends=ends)
        except BaseException as error:  # noqa: BLE001 - reported below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n, make_conn())) for n in range(16)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        if conn.execute("""SELECT count(*) FROM "PlatformJob" WHERE status = 'QUEUED'""").fetchone() == (0,):
            break
        stop.wait(0.05)
    stop.set()
    for thread in threads:
        thread.join(10)
    assert not errors
    assert conn.execute("""SELECT status, count(*) FROM "PlatformJob" GROUP BY 1""").fetchall() == [("DONE", 600)]
    # A column of milliseconds rounds: an end may then read up to one later than it was.
    (digits,) = conn.execute(
        "SELECT datetime_precision FROM information_schema.columns"
        " WHERE table_name = 'PlatformJob' AND column_name = 'finishedAt'"
    ).fetchone()
    rounding = "interval '1 ms'" if digits == 3 else "interval '0'"
    conn.execute(
        f'''CREATE TEMP VIEW runs AS SELECT "tenantId", type, "startedAt" AS started, "finishedAt" - {rounding} AS ended
              FROM "PlatformJob"'''
    )
    assert conn.execute(MOST_AT_ONCE.format(by="tenant", where="")).fetchone()[0] <= 4
    assert conn.execute(MOST_AT_ONCE.format(by="type", where="WHERE type = 'DISCOVER'")).fetchone()[0] <= 2


def test_no_claim_commits_while_a_pause_is_in_force(conn: Any, make_conn: Any) -> None:
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                    SELECT 'j' || n, 't' || (n % 50), 'CRAWL', '{}' FROM generate_series(1, 2000) n""")
    stop = threading.Event()

    def work(mine: Any) -> None:
        while not stop.is_set():
            claim(mine, 1, tenant_cap=1000)

    threads = [threading.Thread(target=work, args=(make_conn(),)) for _ in range(6)]
    for thread in threads:
        thread.start()
    held = []
    for _ in range(15):
        # Written by plain SQL, as another program does.
        conn.execute("""INSERT INTO "SystemConfig" (key, value) VALUES ('queue.paused', 'true')
                        ON CONFLICT (key) DO UPDATE SET value = 'true'""")
        since = conn.execute("SELECT clock_timestamp()").fetchone()[0]
        stop.wait(0.03)
        until = conn.execute("SELECT clock_timestamp()").fetchone()[0]
        conn.execute("""UPDATE "SystemConfig" SET value = 'false'""")
        held.append((since, until))
        stop.wait(0.01)
    stop.set()
    for thread in threads:
        thread.join(10)
    nearly = timedelta(milliseconds=1)  # another program's tables round to it
    leaked = [
        conn.execute(
            'SELECT count(*) FROM "PlatformJob" WHERE "startedAt" BETWEEN %s AND %s', [since + nearly, until - nearly]
        ).fetchone()[0]
        for since, until in held
    ]
    assert sum(leaked) == 0
    assert conn.execute("""SELECT count(*) FROM "PlatformJob" WHERE status = 'RUNNING'""").fetchone()[0] > 50


def test_a_pause_waits_at_its_commit_only_and_not_for_long(conn: Any, make_conn: Any) -> None:
    """Whoever pauses and thinks for a minute before the commit holds up nobody."""
    slow = make_conn()
    slow.autocommit = False
    slow.execute("SELECT 1")  # the transaction is the caller's
    pauses.pause(reason="r", owner="kim", using=slow)
    insert(conn, "j")
    assert claimed(claim(conn, 1)) == ["j"]
    slow.commit()
    insert(conn, "k")
    assert claim(conn, 1).jobs == []


def test_a_claim_reads_few_rows_of_a_large_backlog_at_its_cap(conn: Any) -> None:
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config, "queuedAt")
                    SELECT 'n' || n, 'noisy', 'CRAWL', '{}', '2020-01-01' FROM generate_series(1, 20000) n""")
    conn.execute("""UPDATE "PlatformJob" SET status = 'RUNNING' WHERE id IN ('n1', 'n2', 'n3', 'n4')""")
    conn.execute('ANALYZE "PlatformJob"')
    insert(conn, "q", tenantId="quiet")
    before = _rows_read(conn)
    assert claimed(claim(conn, 1)) == ["q"]
    assert _rows_read(conn) - before < 200


def _rows_read(conn: Any) -> int:
    conn.execute("SELECT pg_stat_force_next_flush()")
    return int(
        conn.execute(
            """SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'PlatformJob'"""
        ).fetchone()[0]
    )


# --- Fairness over priorities, and the source's order -------------------------------------------------------------------
def test_a_busy_high_priority_gives_way_now_and_then(conn: Any) -> None:
    for n in range(4):
        insert(conn, f"high{n}", priority=9, tenantId=f"h{n}")
    insert(conn, "mid", priority=5, tenantId="m")
    insert(conn, "low", priority=-1, tenantId="l")
    assert claim_one(conn, relief=0.99).run.job_id == "low"
    assert claim_one(conn, relief=0.6).run.job_id == "mid"
    assert claim_one(conn, relief=0.0).run.job_id.startswith("high")
    assert claim_one(conn, relief=0.99).run.job_id.startswith("high"), "it goes round when nothing is below"


def test_many_priorities_that_may_not_run_hide_none_that_may(conn: Any) -> None:
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config, priority)
                    SELECT 'p' || n, 'held', 'CRAWL', '{}', n FROM generate_series(1, 200) n""")
    conn.execute("INSERT INTO tenant_setting (tenant_id, cap, updated_by) VALUES ('held', 0, 'x')")
    insert(conn, "free", priority=0, tenantId="z")
    assert claimed(claim(conn, 2)) == ["free"]
    insert(conn, "free2", priority=0, tenantId="z")
    assert claimed(claim(conn, 2, relief=0.5)) == ["free2"]


def test_strict_order_is_priority_then_age_over_all_tenants(conn: Any) -> None:
    for n in range(3):
        insert(conn, f"a{n}", tenantId="a", queuedAt=datetime(2020, 1, 1 + n, tzinfo=UTC))
    insert(conn, "b0", tenantId="b", queuedAt=datetime(2020, 1, 9, tzinfo=UTC))
    insert(conn, "urgent", tenantId="b", priority=1)
    got = [job.run.job_id for _ in range(4) for job in claim(conn, 1, strict=True).jobs]
    assert got == ["urgent", "a0", "a1", "a2"]


def test_strict_order_obeys_caps_and_pauses_too(conn: Any) -> None:
    for n in range(6):
        insert(conn, f"a{n}", tenantId="a", queuedAt=datetime(2020, 1, 1 + n, tzinfo=UTC))
        insert(conn, f"d{n}", tenantId=f"t{n}", type="DISCOVER", queuedAt=datetime(2019, 1, 1 + n, tzinfo=UTC))
    insert(conn, "b", tenantId="b")
    assert claimed(claim(conn, 20, strict=True)) == ["a0", "a1", "a2", "a3", "b", "d0", "d1"]
    insert(conn, "c", tenantId="c")
    pauses.pause(reason="r", owner="kim", tenant_id="c", using=conn)
    assert claimed(claim(conn, 20, strict=True)) == []


def test_the_tenant_that_is_alone_with_room_gets_all_slots(conn: Any) -> None:
    for n in range(10):
        insert(conn, f"a{n}", tenantId="a")
    insert(conn, "b0", tenantId="b")
    first = claim(conn, 8, tenant_cap=100)
    rest = claim(conn, 8 - len(first.jobs), tenant_cap=100)
    assert len(first.jobs) + len(rest.jobs) == 8


@pytest.mark.parametrize("free", ["", "a", "t0000", "t0500x", "t1000x", "zz"])
@pytest.mark.parametrize("after", ["", "t0500", "t0500x", "zzz"])
def test_a_thousand_full_tenants_hide_none_with_room(conn: Any, free: str, after: str) -> None:
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config, status)
                    SELECT 'r' || n, 't' || lpad(n::text, 4, '0'), 'CRAWL', '{}', 'RUNNING' FROM generate_series(1, 1000) n""")
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                    SELECT 'q' || n, 't' || lpad(n::text, 4, '0'), 'CRAWL', '{}' FROM generate_series(1, 1000) n""")
    insert(conn, "low", tenantId="t0007x", priority=-3, type="OTHER")
    insert(conn, "free", tenantId=free, type="OTHER")
    assert claimed(claim(conn, 1, tenant_cap=1, after=after)) == ["free"]
    assert claimed(claim(conn, 1, tenant_cap=1, after=after)) == ["low"]
    assert claim(conn, 8, tenant_cap=1, after=after).jobs == []


@pytest.mark.parametrize("full", [0, 1, 40])
def test_many_paused_tenants_hide_none_that_may_run(conn: Any, full: int) -> None:
    conn.execute("""INSERT INTO "PlatformJob" (id, "tenantId", type, config)
                    SELECT 'q' || n, 't' || lpad(n::text, 4, '0'), 'CRAWL', '{}' FROM generate_series(1, 60) n""")
    conn.execute(
        """INSERT INTO "PlatformJob" (id, "tenantId", type, config, status)
           SELECT 'r' || n, 't' || lpad(n::text, 4, '0'), 'CRAWL', '{}', 'RUNNING' FROM generate_series(1, %s) n""",
        [full],
    )
    for n in range(1, 61):
        pauses.pause(reason="r", owner="kim", tenant_id=f"t{n:04}", using=conn)
    insert(conn, "free", tenantId="zz")
    assert claimed(claim(conn, 8, tenant_cap=1)) == ["free"]


def look_how_far_back(conn: Any, least_dead: int = 0, most_queued: int = 100) -> bool:
    options = {"least_dead": least_dead, "most_queued": most_queued, "late_seconds": 10}
    return bool(run("claim_floor", options, conn)[0]["set"])


def test_under_an_old_transaction_a_claim_does_not_read_over_the_rows_of_the_past(conn: Any, make_conn: Any) -> None:
    """Rows that were queued since it began cannot be cleaned away, nor can their places in the index."""
    old = make_conn()
    old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    old.execute("SELECT 1")
    conn.execute(
        """INSERT INTO "PlatformJob" (id, "tenantId", type, config, "queuedAt")
           SELECT 'p' || n, 't' || n % 40, 'CRAWL', '{}', now() - interval '1 h' FROM generate_series(1, 4000) n"""
    )
    conn.execute("""UPDATE "PlatformJob" SET status = 'DONE', "finishedAt" = now()""")
    for number in range(3):
        insert(conn, f"j{number}", tenantId="t9")

    def read() -> int:
        conn.execute("BEGIN")
        before = conn.execute("SELECT pg_stat_get_xact_blocks_fetched('\"PlatformJob\"'::regclass)").fetchone()[0]
        assert claimed(claim(conn, 1)) == ["j0"]
        after = conn.execute("SELECT pg_stat_get_xact_blocks_fetched('\"PlatformJob\"'::regclass)").fetchone()[0]
        conn.execute("ROLLBACK")
        return int(after - before)

    without = read()
    assert look_how_far_back(conn)
    within = read()
    assert within < without / 10, (within, without)
    insert(conn, "late", queuedAt=datetime(2020, 1, 1, tzinfo=UTC))  # waits for the next look, and then is first
    assert claim_one(conn).run.job_id == "j0"
    look_how_far_back(conn)
    assert claim_one(conn).run.job_id == "late"
    assert not look_how_far_back(conn, least_dead=10**9) and not look_how_far_back(conn, most_queued=0)
    insert(conn, "earlier", queuedAt=datetime(2019, 1, 1, tzinfo=UTC))
    assert claim_one(conn).run.job_id == "earlier"


def test_what_was_queued_for_later_is_claimed_when_it_is_due_however_far_back_claims_look(conn: Any) -> None:
    long_ago = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)  # as exact as another program's tables are
    insert(conn, "later", queuedAt=long_ago, nextRetryAt=datetime.now(UTC) + timedelta(seconds=0.2))
    insert(conn, "tomorrow", queuedAt=long_ago - timedelta(hours=1), nextRetryAt=datetime.now(UTC) + timedelta(days=1))
    assert look_how_far_back(conn)
    conn.execute("SELECT pg_sleep(0.25)")
    assert claim_one(conn).run.job_id == "later"
    found = conn.execute("SELECT grace_until FROM sweep_duty WHERE name = 'claim floor'").fetchone()[0]
    assert found == long_ago, "what is due tomorrow lets no claim read over today's rows"


def test_a_job_that_claims_passed_over_wakes_workers_as_soon_as_the_next_look_finds_it(
    conn: Any, make_conn: Any
) -> None:
    listener = make_conn()
    assert look_how_far_back(conn)
    insert(conn, "late", queuedAt=datetime(2020, 1, 1, tzinfo=UTC))
    assert claim(conn).jobs == []
    listener.execute("LISTEN detiq_jobs")
    look_how_far_back(conn)
    assert len(list(listener.notifies(timeout=1, stop_after=1))) == 1
    look_how_far_back(conn)
    assert list(listener.notifies(timeout=0.2)) == [], "nothing new: nobody is woken"
    insert(conn, "earlier", queuedAt=datetime(2019, 1, 1, tzinfo=UTC))
    assert len(list(listener.notifies(timeout=1, stop_after=1))) == 1
    look_how_far_back(conn, least_dead=10**9)
    assert len(list(listener.notifies(timeout=1, stop_after=1))) == 1, "without a look back all may be claimed"
