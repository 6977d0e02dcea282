"""Failures by cause: counted for every writer, folded without a fight, and a fix that did not hold is found."""

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from jobs.domain.errors import GroupChanged, GroupNotFound, InvalidInput
from jobs.domain.failures import FailureType
from jobs.domain.outcomes import DeadLettered, Failure, RetryLater
from jobs.models import AuditEntry
from jobs.operations import groups
from jobs.operations.actions import Person
from jobs.queue.retention import Retention
from jobs.queue.sweep import Sweep
from tests.queue.helpers import claim, claim_one, finish, insert

HOUR = timedelta(hours=1)
KIM = Person("kim")
SQL = Path(__file__).resolve().parents[2] / "jobs/migrations/sql"


def fold(conn: Any) -> None:
    Sweep(conn, HOUR, HOUR, 0.1, random.Random(1)).light()


def fail(conn: Any, job_id: str, print_: str = "v1:a", *, dead: bool = False, tenant: str = "acme") -> None:
    """Queues a job, runs it and lets it fail."""
    insert(conn, job_id, tenantId=tenant)
    (job,) = claim(conn, 1).jobs
    failure = Failure(f"boom {job_id}", FailureType.TRANSIENT.value, print_)
    finish(conn, job.run, DeadLettered(failure, "no retries left") if dead else RetryLater(failure, 3600))


def group(conn: Any, fingerprint: str = "v1:a") -> dict[str, Any]:
    cursor = conn.execute("SELECT * FROM failure_group WHERE fingerprint = %s", [fingerprint])
    found = cursor.fetchone()
    assert found is not None, conn.execute("SELECT fingerprint FROM failure_group").fetchall()
    return dict(zip([column.name for column in cursor.description], found, strict=True))


def say(state: str, seen: str = "NEW", fingerprint: str = "v1:a") -> None:
    groups.change(KIM, fingerprint, seen=seen, state=state, owner="dana", note="proxy", reason="looked at it")


def test_failures_are_counted_by_group_tenant_and_time(conn: Any) -> None:
    fail(conn, "a", tenant="acme")
    fail(conn, "b", tenant="globex")
    fail(conn, "c", dead=True, tenant="acme")
    fail(conn, "d", "v1:other")
    fold(conn)
    found = group(conn)
    assert (found["n"], found["dead"], found["state"], found["type"]) == (3, 1, "NEW", "CRAWL")
    assert found["sample"] == "boom c" and found["job_id"] == "c" and found["first_at"] < found["last_at"]
    assert conn.execute("SELECT fingerprint, tenant_id, n FROM failure_group_tenant ORDER BY 1, 2").fetchall() == [
        ("v1:a", "acme", 2), ("v1:a", "globex", 1), ("v1:other", "acme", 1)
    ]  # fmt: skip
    for grain in "mhd":
        for table in ("failure_cause", "failure_tenant"):
            total = f"SELECT sum(n), sum(dead) FROM {table} WHERE grain = '{grain}'"
            assert conn.execute(total).fetchone() == (4, 1), (table, grain)
    assert conn.execute("SELECT count(*) FROM failure_delta").fetchone() == (0,)


def test_what_plain_sql_writes_counts_too_and_is_grouped(conn: Any) -> None:
    for index in range(5):
        insert(conn, f"j{index}", status="RUNNING", workerId="node-1")
    conn.execute(
        """UPDATE "PlatformJob" SET status = 'FAILED', error = 'proxy px-0' || right(id, 1) || ' answers 502'"""
    )
    insert(conn, "k", status="RUNNING")
    conn.execute("""UPDATE "PlatformJob" SET status = 'RETRY_WAIT', error = 'no space left' WHERE id = 'k'""")
    insert(conn, "fine", status="RUNNING")
    conn.execute("""UPDATE "PlatformJob" SET status = 'DONE', error = 'left over' WHERE id = 'fine'""")
    fold(conn)
    rows = conn.execute("SELECT fingerprint, n FROM failure_group ORDER BY n DESC").fetchall()
    assert [n for _, n in rows] == [5, 1] and all(name.startswith("sql:") for name, _ in rows)
    ids = conn.execute(
        """SELECT count(*) FROM job_history WHERE to_status IN ('RETRY_WAIT', 'FAILED')
              AND detiq_group(type, fingerprint, left(detail ->> 'error', 2000)) = %s""",
        [rows[0][0]],
    )
    assert ids.fetchone() == (5,), "the index of the runs knows the same group"


def test_a_job_dead_lettered_later_counts_as_dead_but_not_as_another_failed_run(conn: Any) -> None:
    insert(conn, "j", status="RUNNING", workerId="node-1")
    conn.execute("""UPDATE "PlatformJob" SET status = 'FAILED', "failureType" = 'FATAL', fingerprint = 'v1:a'""")
    Sweep(conn, HOUR, HOUR, 0.1, random.Random(1)).full()
    fold(conn)
    assert (group(conn)["n"], group(conn)["dead"]) == (1, 1)


def test_what_did_not_fail_writes_nothing(conn: Any) -> None:
    insert(conn, "j")
    claim_one(conn)
    conn.execute("""UPDATE "PlatformJob" SET progress = 3""")
    conn.execute("""UPDATE "PlatformJob" SET status = 'DONE'""")
    assert conn.execute("SELECT count(*) FROM failure_delta").fetchone() == (0,)


def test_a_hostile_fingerprint_does_not_stop_the_folding(conn: Any) -> None:
    insert(conn, "j", status="RUNNING")
    conn.execute(
        """UPDATE "PlatformJob" SET status = 'FAILED', fingerprint = %s, "failureType" = %s, error = %s""",
        ["x" * 9000 + "\n\u202e", "F" * 9000, "e" * 900_000],
    )
    fold(conn)
    ((name, kind, size),) = conn.execute(
        "SELECT fingerprint, failure_type, length(sample) FROM failure_group"
    ).fetchall()
    assert (len(name), len(kind), size) == (200, 100, 1000)


# --- The life of a group ----------------------------------------------------------------------------------------------
def test_a_person_says_what_a_group_is_and_it_is_audited(conn: Any) -> None:
    fail(conn, "a")
    fold(conn)
    say("KNOWN")
    found = group(conn)
    assert (found["state"], found["owner"], found["note"], found["changed_by"]) == ("KNOWN", "dana", "proxy", "kim")
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target, entry.reason) == ("change_group", "group v1:a", "looked at it")
    assert entry.before["state"] == "NEW" and entry.after["state"] == "KNOWN"
    assert conn.execute("SELECT from_state, to_state, actor, reason FROM failure_group_change").fetchall() == [
        ("NEW", "KNOWN", "kim", "looked at it")
    ]


def test_a_fixed_group_that_fails_again_has_regressed(conn: Any) -> None:
    fail(conn, "a")
    fold(conn)
    say("FIX_DEPLOYED")
    fold(conn)
    assert group(conn)["state"] == "FIX_DEPLOYED"
    fail(conn, "b")
    fold(conn)
    assert group(conn)["state"] == "REGRESSED"
    assert conn.execute("SELECT to_state, actor FROM failure_group_change ORDER BY id DESC LIMIT 1").fetchone() == (
        "REGRESSED", "sweep"
    )  # fmt: skip
    say("FIX_DEPLOYED", seen="REGRESSED")
    fold(conn)
    assert group(conn)["state"] == "FIX_DEPLOYED"


def test_a_run_that_began_before_the_fix_regresses_nothing(conn: Any) -> None:
    fail(conn, "a")
    fold(conn)
    insert(conn, "b")
    job = claim_one(conn)
    say("FIX_DEPLOYED")
    finish(conn, job.run, RetryLater(Failure("boom", "TRANSIENT", "v1:a"), 3600))
    fold(conn)
    assert group(conn)["state"] == "FIX_DEPLOYED" and group(conn)["n"] == 2


@pytest.mark.parametrize("state", ["KNOWN", "IGNORED"])
def test_other_states_stay_when_it_fails_again(conn: Any, state: str) -> None:
    fail(conn, "a")
    fold(conn)
    say(state)
    fail(conn, "b")
    fold(conn)
    assert group(conn)["state"] == state


def test_what_changed_meanwhile_is_not_overwritten(conn: Any) -> None:
    fail(conn, "a")
    fold(conn)
    say("IGNORED")
    with pytest.raises(GroupChanged, match="Ignored by now"):
        say("KNOWN")
    with pytest.raises(GroupNotFound):
        say("KNOWN", fingerprint="v1:nowhere")
    with pytest.raises(InvalidInput, match="state"):
        say("REGRESSED", seen="IGNORED")
    with pytest.raises(InvalidInput, match="reason"):
        groups.change(KIM, "v1:a", seen="IGNORED", state="KNOWN", reason="  ")
    assert group(conn)["state"] == "IGNORED" and AuditEntry.objects.count() == 1


def test_two_folders_count_once_and_writers_do_not_wait(conn: Any, make_conn: Any) -> None:
    fail(conn, "a")
    fold(conn)
    other = make_conn()
    with other.transaction():
        other.execute("SELECT 1 FROM failure_group FOR UPDATE")
        conn.execute("SET statement_timeout = '2s'")
        fail(conn, "b")
    fold(make_conn())
    fold(conn)
    assert group(conn)["n"] == 2


def test_old_counts_leave_and_a_group_that_people_spoke_of_stays(conn: Any) -> None:
    for name in ("v1:a", "v1:b"):
        fail(conn, name, name)
    fold(conn)
    say("IGNORED")
    for table, column in (("failure_group", "last_at"), ("failure_group_tenant", "last_at"), ("failure_cause", "at"),
                          ("failure_tenant", "at"), ("tally_flow", "minute"), ("tally_tenant", "minute")):  # fmt: skip
        conn.execute(f"UPDATE {table} SET {column} = {column} - interval '100 days'")
    pruner = Retention(timedelta(days=90), conn)
    pruned = {one.target.name: (one.pruned, one.ended, one.error) for one in pruner.prune(pruner.all(), 30)}
    assert pruned["failures"][1:] == pruned["flow"][1:] == (True, None) and pruned["flow"][0] > 0
    assert conn.execute("SELECT fingerprint FROM failure_group").fetchall() == [("v1:a",)]
    for table in ("failure_group_tenant", "failure_cause", "failure_tenant", "tally_flow", "tally_tenant"):
        assert conn.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table


# --- Counters beside --------------------------------------------------------------------------------------------------
def test_the_counters_by_type_follow_those_by_tenant(conn: Any) -> None:
    for index in range(6):
        insert(conn, f"j{index}", tenantId=f"t{index % 3}", type="CRAWL" if index % 2 else "DISCOVER")
    fold(conn)
    claim(conn, 3)
    conn.execute("""DELETE FROM "PlatformJob" WHERE id = 'j5'""")
    fold(conn)
    conn.execute("DELETE FROM tally_state WHERE tenant_id = 't0'")
    conn.execute("UPDATE tally_state SET n = n + 7 WHERE tenant_id = 't1' AND state = 'QUEUED'")
    same = """SELECT type, state, sum(n) FROM tally_state GROUP BY 1, 2 HAVING sum(n) <> 0 ORDER BY 1, 2"""
    assert conn.execute("SELECT type, state, n FROM tally_type WHERE n <> 0 ORDER BY 1, 2").fetchall() == [
        (kind, state, int(n)) for kind, state, n in conn.execute(same).fetchall()
    ]


def test_minutes_without_tenants_say_what_those_with_tenants_say(conn: Any) -> None:
    for index in range(4):
        fail(conn, f"j{index}", tenant=f"t{index % 2}")
    fold(conn)
    assert (
        conn.execute("SELECT sum(n) FROM tally_flow").fetchone()
        == conn.execute("SELECT sum(n) FROM tally_minute").fetchone()
    )
    assert conn.execute("SELECT sum(started) FROM tally_tenant").fetchone() == (4,)


def test_what_failed_before_groups_were_counted_is_counted_as_the_triggers_would(conn: Any) -> None:
    for index in range(4):
        fail(conn, f"j{index}", f"v1:{index % 2}", tenant=f"t{index % 3}", dead=index == 3)
    insert(conn, "sql", status="RUNNING")
    conn.execute("""UPDATE "PlatformJob" SET status = 'FAILED', dlq = true, error = 'exit 7' WHERE id = 'sql'""")
    insert(conn, "born dead", status="FAILED", dlq=True)
    fold(conn)
    tables = ("failure_group", "failure_group_tenant", "failure_cause", "failure_tenant")
    columns = {"failure_group": "fingerprint, type, failure_type, n, dead"}
    read = [f"SELECT {columns.get(table, '*')} FROM {table} ORDER BY 1, 2, 3, 4, 5" for table in tables]
    kept = [conn.execute(sql).fetchall() for sql in read]
    for table in tables:
        conn.execute(f"DELETE FROM {table}")
    conn.execute((SQL / "0004_groups.sql").read_text().split("-- What failed in the last month")[1].split("\n", 1)[1])
    fold(conn)
    assert [len(rows) for rows in kept] == [len(conn.execute(sql).fetchall()) for sql in read]
    assert conn.execute(read[0]).fetchall() == kept[0]
    assert [row[-2:] for row in conn.execute(read[3]).fetchall()] == [row[-2:] for row in kept[3]]
