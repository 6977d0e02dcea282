"""The sweep's own judgement; what its statements do stands in the tests of the transitions."""

import random
from datetime import timedelta
from typing import Any

import pytest

from jobs.queue.sweep import Sweep
from tests.queue.helpers import insert, row

LONG_AGO = "2020-01-01 00:00:00+00"


def sweep(conn: Any) -> dict[str, int]:
    return Sweep(conn, timedelta(minutes=30), timedelta(seconds=15), 0.0, random.Random(1)).full()


def lost(conn: Any, id: str, **columns: Any) -> None:
    insert(conn, id, status="RUNNING", workerId="gone:1:x", **columns)


@pytest.mark.parametrize("odd", ["-infinity", "0044-03-15 00:00:00+00 BC"])
@pytest.mark.parametrize("column", ["startedAt", "heartbeatAt"])
def test_a_time_that_no_clock_shows_keeps_no_other_run_from_rescue(conn: Any, column: str, odd: str) -> None:
    lost(conn, "odd", **({"startedAt": LONG_AGO} | {column: odd}))
    lost(conn, "plain", startedAt=LONG_AGO)
    sweep(conn)
    assert row(conn, "plain")["status"] == "RETRY_WAIT"
    assert conn.execute("SELECT status FROM \"PlatformJob\" WHERE id = 'odd'").fetchone()[0] == "RUNNING"


@pytest.mark.parametrize("clock", ["+ interval '1 h'", "- interval '1 h'"])
def test_a_clock_that_is_set_gives_nobody_up_and_keeps_nobody_for_long(conn: Any, clock: str) -> None:
    lost(conn, "j", startedAt=LONG_AGO)
    conn.execute(f"""INSERT INTO sweep_duty (name, looked_at, grace_until)
                     VALUES ('rescue', now() {clock}, now() {clock} + interval '30 min')""")
    sweep(conn)
    assert row(conn, "j")["status"] == "RUNNING"
    (left,) = conn.execute("SELECT grace_until - now() FROM sweep_duty WHERE name = 'rescue'").fetchone()
    assert timedelta(minutes=29) < left < timedelta(minutes=31)


def test_a_duty_that_a_lock_stops_leaves_no_other_undone(conn: Any, make_conn: Any) -> None:
    lost(conn, "j", startedAt=LONG_AGO)
    insert(conn, "late", status="FAILED", nextRetryAt=LONG_AGO, finishedAt=LONG_AGO)
    other = make_conn()
    other.autocommit = False
    other.execute("LOCK TABLE tally_state, failure_group IN ACCESS EXCLUSIVE MODE")
    conn.execute("SET lock_timeout = '50ms'")
    sweep(conn)
    other.rollback()
    assert [row(conn, id)["status"] for id in ("j", "late")] == ["RETRY_WAIT", "QUEUED"]
    stopped = {name for (name,) in conn.execute("SELECT name FROM sweep_duty WHERE error IS NOT NULL")}
    assert "fold" in stopped
    sweep(conn)
    assert not conn.execute("SELECT 1 FROM sweep_duty WHERE error IS NOT NULL").fetchall(), "what is well says so"


def test_the_lowest_priority_that_fits_keeps_no_other_from_the_queue(conn: Any) -> None:
    for n, status in enumerate(("RETRY_WAIT", "FAILED")):
        for id, priority in ((f"odd{n}", -(2**31)), (f"plain{n}", 0)):
            insert(conn, id, status=status, nextRetryAt=LONG_AGO, finishedAt=LONG_AGO, priority=priority)
    sweep(conn)
    assert {row(conn, f"{name}{n}")["status"] for name in ("odd", "plain") for n in (0, 1)} == {"QUEUED"}


def test_counters_that_differ_from_the_jobs_are_put_right(conn: Any) -> None:
    for n in range(3):
        insert(conn, f"j{n}", tenantId="acme" if n else "globex")
    sweep(conn)
    conn.execute("UPDATE tally_state SET n = n + 100 WHERE tenant_id = 'acme'")
    conn.execute("DELETE FROM tally_state WHERE tenant_id = 'globex'")
    conn.execute("UPDATE tally_type SET n = n - 7")
    conn.execute("INSERT INTO tally_state VALUES ('nobody', 'CRAWL', 'DONE', -100)")
    insert(conn, "not folded yet", tenantId="acme")
    assert sweep(conn)["recount"] == 0, "not so soon again"
    conn.execute("UPDATE sweep_duty SET grace_until = NULL WHERE name = 'recount'")
    insert(conn, "nor this", tenantId="acme")
    assert conn.execute("SELECT counters FROM detiq_recount()").fetchone()[0] == 4
    sweep(conn)
    right = [("acme", "QUEUED", 4), ("globex", "QUEUED", 1)]
    assert conn.execute("SELECT tenant_id, state, n FROM tally_state WHERE n <> 0 ORDER BY 1").fetchall() == right
    assert conn.execute("SELECT type, state, n FROM tally_type WHERE n <> 0").fetchall() == [("CRAWL", "QUEUED", 5)]


def test_a_table_that_was_emptied_without_a_word_counts_nothing(conn: Any) -> None:
    insert(conn, "j")
    sweep(conn)
    conn.execute('ALTER TABLE "PlatformJob" DISABLE TRIGGER detiq_record_delete')
    conn.execute('DELETE FROM "PlatformJob"')
    conn.execute('ALTER TABLE "PlatformJob" ENABLE TRIGGER detiq_record_delete')
    conn.execute("UPDATE sweep_duty SET grace_until = NULL WHERE name = 'recount'")
    assert sweep(conn)["recount"] == 1
    assert conn.execute("SELECT sum(n) FROM tally_type").fetchone() == (0,)


def test_every_tables_rows_can_be_named_by_a_publication_of_all_tables(conn: Any) -> None:
    """PostgreSQL refuses to delete published rows without a name: nothing could be folded any more."""
    nameless = """
        SELECT relname FROM pg_class c
         WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND relreplident = 'd'
           AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)"""
    assert conn.execute(nameless).fetchall() == []
