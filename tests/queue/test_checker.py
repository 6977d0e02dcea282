"""The checker finds every rule that was broken, and nothing where none was. Reads only what is stored."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.domain.outcomes import Completed, RetryLater
from jobs.queue import checker, gate, pauses
from jobs.queue.checker import Finding, Terms
from jobs.queue.statements import run
from jobs.queue.sweep import Sweep
from tests.queue.helpers import BOOM, claim, claim_one, finish, insert, running

HOUR = timedelta(hours=1)
TERMS = Terms(tenant_cap=4, type_caps={"DISCOVER": 2}, stale_timeout=timedelta(minutes=30))


def check(conn: Any) -> list[Finding]:
    return checker.check(conn, TERMS)


def kinds(conn: Any) -> list[tuple[str, str | None]]:
    return sorted((one.kind, one.job_id) for one in check(conn))


def begin(conn: Any, id: str, worker: str = "w9") -> None:
    """Starts a job as a claim does, asking nobody."""
    with conn.transaction():
        conn.execute("SELECT detiq_says(%s, NULL)", [worker])
        conn.execute(
            """UPDATE "PlatformJob" SET status = 'RUNNING', "startedAt" = clock_timestamp(),
                      "heartbeatAt" = clock_timestamp(), "workerId" = %s WHERE id = %s""",
            [worker, id],
        )


def unseen(conn: Any, text: str) -> None:
    """A change that the history misses."""
    conn.execute('ALTER TABLE "PlatformJob" DISABLE TRIGGER detiq_record_update')
    conn.execute(text)
    conn.execute('ALTER TABLE "PlatformJob" ENABLE TRIGGER detiq_record_update')


def cap(conn: Any, number: int | None, **more: Any) -> None:
    row = {"tenant_id": "acme", "cap": number, "updated_by": "kim"} | more
    places = ", ".join(["%s"] * len(row))
    conn.execute(
        f"""INSERT INTO tenant_setting ({", ".join(row)}) VALUES ({places})
            ON CONFLICT (tenant_id) DO UPDATE SET {", ".join(f"{name} = EXCLUDED.{name}" for name in row)}""",
        list(row.values()),
    )


# --- Caps -------------------------------------------------------------------------------------------------------------
def test_a_tenant_over_its_cap_is_found_and_the_claim_named(conn: Any) -> None:
    for n in range(5):
        insert(conn, f"j{n}")
    assert len(claim(conn, 4).jobs) == 4 and check(conn) == []
    begin(conn, "j4")
    (found,) = check(conn)
    assert (found.kind, found.job_id) == ("tenant_cap", "j4") and "5 running, cap 4" in found.text
    assert found.at == conn.execute("""SELECT "startedAt" FROM "PlatformJob" WHERE id = 'j4'""").fetchone()[0]


def test_it_is_found_long_after_the_runs_have_ended(conn: Any) -> None:
    for n in range(5):
        insert(conn, f"j{n}")
    claimed = [job.run for job in claim(conn, 4).jobs]
    begin(conn, "j4")
    for each in claimed:
        finish(conn, each, Completed())
    conn.execute("""UPDATE "PlatformJob" SET status = 'DONE' WHERE id = 'j4'""")
    assert kinds(conn) == [("tenant_cap", "j4")]


def test_a_type_over_its_cap_counts_tracked_runs_too(conn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "UNLOCKED_GRACE", timedelta(0))
    insert(conn, "i", type="DISCOVER", tenantId="z", status="RUNNING", inline=True, startedAt=datetime.now(UTC))
    for n in range(2):
        insert(conn, f"d{n}", type="DISCOVER", tenantId=f"t{n}")
    assert len(claim(conn, 8).jobs) == 1 and check(conn) == []
    begin(conn, "d1")
    assert kinds(conn) == [("type_cap", "d1")]


def test_lowering_a_cap_stops_nothing_but_what_starts_after_it_is_found(conn: Any) -> None:
    for n in range(5):
        insert(conn, f"j{n}")
    claim(conn, 3)
    cap(conn, 2)
    assert claim(conn, 1).jobs == [] and check(conn) == []
    begin(conn, "j3")
    cap(conn, 9)
    begin(conn, "j4")
    assert kinds(conn) == [("tenant_cap", "j3")]


def test_a_cap_of_zero_and_an_unlimited_one(conn: Any) -> None:
    for n in range(7):
        insert(conn, f"j{n}")
    cap(conn, None, unlimited=True)
    assert len(claim(conn, 6).jobs) == 6 and check(conn) == []
    cap(conn, 0, unlimited=False)
    begin(conn, "j6")
    assert kinds(conn) == [("tenant_cap", "j6")]


def test_a_cap_that_has_ended_is_the_one_before(conn: Any) -> None:
    for n in range(4):
        insert(conn, f"j{n}")
    cap(conn, 1, ends_at=datetime.now(UTC) - HOUR, previous_cap=3)
    assert len(claim(conn, 4).jobs) == 3 and check(conn) == []
    begin(conn, "j3")
    assert kinds(conn) == [("tenant_cap", "j3")]


def test_runs_of_other_programs_count_but_are_not_judged(conn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "UNLOCKED_GRACE", timedelta(0))
    for n in range(8):
        insert(conn, f"j{n}")
    conn.execute(
        """UPDATE "PlatformJob" SET status = 'RUNNING', "workerId" = 'node', "startedAt" = now(), "heartbeatAt" = now()
            WHERE id < 'j6'"""
    )
    assert check(conn) == []
    begin(conn, "j7")
    assert kinds(conn) == [("tenant_cap", "j7")]


# --- Pauses -----------------------------------------------------------------------------------------------------------
FLAG = """INSERT INTO "SystemConfig" (key, value) VALUES ('queue.paused', 'true')"""


@pytest.mark.parametrize(
    "hold",
    [
        lambda conn: pauses.pause(reason="r", owner="kim", using=conn),
        lambda conn: pauses.pause(reason="r", owner="kim", type="CRAWL", using=conn),
        lambda conn: pauses.pause(reason="r", owner="kim", tenant_id="acme", ends_in_seconds=60, using=conn),
        lambda conn: pauses.pause(reason="r", owner="kim", project_id="p", using=conn),
        lambda conn: conn.execute(FLAG),
    ],
)
def test_a_start_in_a_pause_is_found(conn: Any, hold: Callable[[Any], None]) -> None:
    for id in ("before", "in", "after"):
        insert(conn, id, projectId="p")
    begin(conn, "before")
    hold(conn)
    begin(conn, "in")
    lift_all(conn)
    begin(conn, "after")
    assert set(kinds(conn)) == {("pause", "in")}


def lift_all(conn: Any) -> None:
    for one in pauses.active(conn):
        pauses.lift(one.id, by="kim", reason="r", using=conn)


def test_a_pause_of_something_else_or_one_that_has_ended_holds_nothing(conn: Any) -> None:
    insert(conn, "j", projectId="p")
    for scope in (
        {"type": "OTHER"},
        {"tenant_id": "else"},
        {"project_id": "q"},
        {"type": "CRAWL", "tenant_id": "else"},
    ):
        pauses.pause(reason="r", owner="kim", using=conn, **scope)
    id = pauses.pause(reason="r", owner="kim", ends_in_seconds=60, type="CRAWL", using=conn)
    conn.execute(
        "UPDATE queue_pause SET created_at = now() - interval '2 s', ends_at = now() - interval '1 s' WHERE id = %s",
        [id],
    )
    begin(conn, "j")
    assert check(conn) == []


def test_what_was_in_force_before_it_was_known_is_not_judged(conn: Any) -> None:
    insert(conn, "j")
    pauses.pause(reason="r", owner="kim", using=conn)
    begin(conn, "j")
    assert prune(conn) == 0
    conn.execute("UPDATE gate_history SET at = now() + interval '1 h' WHERE source = 'begin'")
    assert check(conn) == []


# --- Runs and histories -----------------------------------------------------------------------------------------------
def test_a_job_that_runs_twice_at_once(conn: Any) -> None:
    running(conn)
    unseen(conn, """UPDATE "PlatformJob" SET status = 'QUEUED'""")
    claim_one(conn, worker="w2")
    assert {kind for kind, _ in kinds(conn)} == {"running_twice", "gap", "tally"}


def test_a_run_that_starts_before_the_one_before_has_ended(conn: Any) -> None:
    run = running(conn)
    finish(conn, run, RetryLater(BOOM, 0))
    Sweep(conn, HOUR, HOUR, 0, None).light()  # type: ignore[arg-type]
    with conn.transaction():
        conn.execute("SELECT detiq_says('w2', NULL)")
        conn.execute(
            """UPDATE "PlatformJob" SET status = 'RUNNING', "workerId" = 'w2', "heartbeatAt" = now(), "startedAt" = %s""",
            [run.started],
        )
    assert kinds(conn) == [("running_twice", "j")]


def test_a_run_ended_by_a_worker_that_did_not_own_it(conn: Any) -> None:
    running(conn, "a", "w1")
    running(conn, "b", "w2")
    with conn.transaction():
        conn.execute("SELECT detiq_says('w2', NULL)")
        conn.execute(
            """UPDATE "PlatformJob" SET status = 'DONE', "finishedAt" = now(), "workerId" = NULL WHERE id = 'a'"""
        )
    assert kinds(conn) == [("not_owner", "a")]


def test_a_step_that_is_no_transition_unless_another_program_made_it(conn: Any) -> None:
    insert(conn, "j", status="DONE", finishedAt=datetime.now(UTC))
    insert(conn, "k", status="DONE", finishedAt=datetime.now(UTC))
    conn.execute("""UPDATE "PlatformJob" SET status = 'RETRY_WAIT' WHERE id = 'k'""")
    with conn.transaction():
        conn.execute("SELECT detiq_says('kim', NULL)")
        conn.execute("""UPDATE "PlatformJob" SET status = 'RETRY_WAIT' WHERE id = 'j'""")
    assert kinds(conn) == [("path", "j")]


def test_a_change_that_the_history_missed(conn: Any) -> None:
    insert(conn, "j")
    insert(conn, "gone")
    unseen(conn, """UPDATE "PlatformJob" SET status = 'CANCELLED', "finishedAt" = now() WHERE id = 'j'""")
    conn.execute('ALTER TABLE "PlatformJob" DISABLE TRIGGER detiq_record_delete')
    conn.execute("""DELETE FROM "PlatformJob" WHERE id = 'gone'""")
    conn.execute('ALTER TABLE "PlatformJob" ENABLE TRIGGER detiq_record_delete')
    assert {("gap", "j"), ("gap", "gone")} <= set(kinds(conn))


# --- Now --------------------------------------------------------------------------------------------------------------
OLD = datetime.now(UTC) - 3 * HOUR


@pytest.mark.parametrize(
    "row",
    [
        {"status": "RETRY_WAIT", "nextRetryAt": OLD},
        {"status": "RETRY_WAIT"},
        {"status": "RETRY_WAIT", "dlq": True, "nextRetryAt": OLD},
        {"status": "RUNNING", "workerId": "w1", "startedAt": OLD, "heartbeatAt": OLD},
        {"status": "RUNNING"},
        {"status": "CANCEL_REQUESTED", "workerId": "w1", "heartbeatAt": OLD},
        {"status": "CANCEL_REQUESTED"},
        {"status": "FAILED", "finishedAt": OLD},
        {"status": "FAILED", "nextRetryAt": OLD},
    ],
)
def test_a_job_that_nobody_moved_on_is_found_until_the_sweep_has(conn: Any, row: dict[str, Any]) -> None:
    insert(conn, "j", queuedAt=OLD, **row)
    if row == {"status": "RETRY_WAIT"}:  # since when it waits only its history says, and that is append-only
        unseen_age(conn)
    assert kinds(conn) == [("stuck", "j")]
    Sweep(conn, TERMS.stale_timeout, HOUR, 0.1, random.Random(1)).full()
    assert check(conn) == []


def unseen_age(conn: Any) -> None:
    conn.execute("ALTER TABLE job_history DISABLE TRIGGER detiq_append_only")
    conn.execute("UPDATE job_history SET at = at - interval '3 h'")
    conn.execute("ALTER TABLE job_history ENABLE TRIGGER detiq_append_only")


def test_what_waits_its_time_is_not_stuck(conn: Any) -> None:
    insert(conn, "a", status="RETRY_WAIT", nextRetryAt=datetime.now(UTC) + HOUR)
    insert(conn, "b", queuedAt=OLD)
    insert(conn, "c", status="FAILED", nextRetryAt=datetime.now(UTC) + HOUR, queuedAt=OLD)
    insert(conn, "d", status="ODD", queuedAt=OLD)
    insert(conn, "e", status="RUNNING", workerId="w", queuedAt=OLD, startedAt=OLD, heartbeatAt=datetime.now(UTC))
    assert check(conn) == []


def test_a_counter_that_is_wrong(conn: Any) -> None:
    insert(conn, "j")
    insert(conn, "k", type="OTHER")
    conn.execute("DELETE FROM tally_delta WHERE type = 'OTHER'")
    (found,) = check(conn)
    assert found.kind == "tally" and "OTHER of acme QUEUED: counted 0, there are 1" in found.text


def test_the_checker_writes_nothing_and_leaves_no_transaction(conn: Any) -> None:
    running(conn)
    check(conn)
    assert conn.info.transaction_status.name == "IDLE"


# --- What is kept of it -----------------------------------------------------------------------------------------------
def test_every_change_is_kept_from_its_commit_on_even_a_slow_one(conn: Any, make_conn: Any) -> None:
    slow = make_conn()
    slow.autocommit = False
    cap(slow, 1)
    for n in range(3):
        insert(conn, f"j{n}")
    assert len(claim(conn, 3).jobs) == 3
    slow.commit()
    assert check(conn) == [], "the cap was written before the claim and committed after it"
    assert conn.execute("SELECT source, key, row->>'cap' FROM gate_history ORDER BY id").fetchall() == [
        ("begin", "", None),
        ("tenant_setting", "acme", "1"),
    ]


def test_pruning_keeps_what_is_in_force_and_says_since_when(conn: Any) -> None:
    cap(conn, 1)
    cap(conn, 2)
    old = pauses.pause(reason="r", owner="kim", using=conn)
    pauses.lift(old, by="kim", reason="r", using=conn)
    still = pauses.pause(reason="r", owner="kim", type="CRAWL", using=conn)
    conn.execute("DELETE FROM tenant_setting WHERE tenant_id = 'nobody'")
    before = conn.execute("SELECT clock_timestamp()").fetchone()[0]
    assert prune(conn) > 0 and prune(conn) == 0
    kept = conn.execute("SELECT source, key FROM gate_history WHERE source <> 'begin' ORDER BY id").fetchall()
    assert kept == [("tenant_setting", "acme"), ("SystemConfig", "queue.paused"), ("queue_pause", str(still))]
    begin_now = gate.read(conn).begin
    assert begin_now is not None and begin_now > before


def prune(conn: Any) -> int:
    """All that was no longer in force just now."""
    return int(run("prune_gate_history", {"limit": 1000, "keep_seconds": 0.0}, conn)[0]["pruned"])
