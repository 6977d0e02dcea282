"""Owners and admins are told, once a job and death, whoever dead-lettered it and whoever was killed."""

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from jobs import notifications as product
from jobs.artifacts.records import FAILED_SUMMARY
from jobs.domain.outcomes import DeadLettered
from jobs.models import ProjectArtifact
from jobs.notifications import tell
from jobs.queue import pauses, transitions
from jobs.queue.sweep import Sweep
from tests.notifications.helpers import dead, member, notifications, rows
from tests.queue.helpers import BOOM, finish, insert, running


def told(conn: Any) -> list[tuple[str, str]]:
    return sorted((row["userId"], row["type"]) for row in notifications(conn))


@pytest.fixture(autouse=True)
def _people(conn: Any) -> None:
    member(conn, "acme", "olga")
    member(conn, "acme", "adam", "ADMIN")
    member(conn, "acme", "mia", "MEMBER")
    member(conn, "globex", "gil")


def test_plain_sql_of_another_program_is_seen(conn: Any) -> None:
    dead(conn, "j", error="boom\nat line 3")
    assert tell.dead_letters(conn) == 2
    assert told(conn) == [("adam", "JOB_DEAD_LETTERED"), ("olga", "JOB_DEAD_LETTERED")]
    row = notifications(conn)[0]
    assert row["id"].startswith("notif_") and len(row["id"]) == 42
    assert (row["tenantId"], row["body"], row["read"]) == ("acme", "boom", False)
    assert row["metadata"]["jobId"] == "j"


def test_our_workers_end_is_seen(conn: Any) -> None:
    finish(conn, running(conn), DeadLettered(BOOM, "no retries left"))
    tell.dead_letters(conn)
    assert len(told(conn)) == 2


def test_the_sweeps_end_is_seen(conn: Any) -> None:
    insert(conn, "j", status="FAILED", failureType="FATAL", error="bad config", finishedAt="2026-01-01")
    Sweep(conn, timedelta(minutes=30), timedelta(seconds=15), 0.0, random.Random(1)).full()
    tell.dead_letters(conn)
    assert len(told(conn)) == 2


def test_it_is_told_once_a_death_and_again_when_it_dies_again(conn: Any) -> None:
    dead(conn, "j")
    tell.dead_letters(conn)
    assert tell.dead_letters(conn) == 0
    transitions.retry(["j"], actor="dana", reason="fixed", using=conn)
    dead(conn, "j")
    assert tell.dead_letters(conn) == 2
    assert len(told(conn)) == 4


def test_whoever_is_killed_between_tells_nothing_twice_and_forgets_nothing(
    conn: Any, make_conn: Callable[[], Any]
) -> None:
    dead(conn, "j")
    killed = make_conn()
    with pytest.raises(RuntimeError), killed.transaction():
        tell.dead_letters(killed)
        raise RuntimeError("killed before its commit")
    assert told(conn) == []
    assert tell.dead_letters(conn) == 2


def test_two_tell_at_once_and_nothing_is_told_twice(conn: Any, make_conn: Callable[[], Any]) -> None:
    dead(conn, "j")
    other = make_conn()
    with other.transaction():
        tell.dead_letters(other)
        assert tell.dead_letters(conn) == 0, "the other has it"
    assert len(told(conn)) == 2


def test_a_change_that_is_rolled_back_is_not_told(conn: Any) -> None:
    with pytest.raises(RuntimeError), conn.transaction():
        dead(conn, "j")
        raise RuntimeError
    assert tell.dead_letters(conn) == 0


def test_ten_thousand_deaths_of_one_outage_are_one_notification(conn: Any) -> None:
    conn.execute("""INSERT INTO notice_due (tenant_id, job_id, type, failure_type, error, at)
                    SELECT CASE WHEN n % 1000 = 0 THEN 'globex' ELSE 'acme' END, 'j' || n,
                           CASE WHEN n % 9 = 0 THEN '<b>@everyone' ELSE 'CRAWL' END, 'TRANSIENT', 'HTTP 502', '2026-11-02T12:00Z'
                      FROM generate_series(1, 10000) n""")
    tell.dead_letters(conn)
    assert told(conn) == [("adam", "JOB_DEAD_LETTERED")] + [("gil", "JOB_DEAD_LETTERED")] * 10 + [
        ("olga", "JOB_DEAD_LETTERED")
    ]
    conn.execute("""UPDATE "Notification" SET read = true""")
    conn.execute("""INSERT INTO notice_due (tenant_id, job_id, type, failure_type, error, at)
                    SELECT 'acme', 'k' || n, 'CRAWL', 'TRANSIENT', 'HTTP 502', '2026-11-02T12:59Z' FROM generate_series(1, 11) n""")
    tell.dead_letters(conn)
    (mine,) = (row for row in notifications(conn) if row["userId"] == "olga")
    assert mine["title"] == "10001 jobs failed and will not be tried again" and mine["metadata"] == {"jobs": 10_001}
    assert not mine["read"] and "11 CRAWL" in mine["body"] and "HTTP 502" in mine["body"]


def test_whoever_left_the_tenant_before_it_is_told_is_not_told(conn: Any) -> None:
    dead(conn, "j")
    pauses.pause(reason="they asked", owner="dana", tenant_id="acme", using=conn)
    conn.execute("""DELETE FROM "Membership" WHERE "userId" = 'adam'""")
    conn.execute("""UPDATE "Membership" SET role = 'MEMBER' WHERE "userId" = 'olga'""")
    assert tell.dead_letters(conn) + tell.paused(conn) == 0


def test_a_tenant_without_people_is_done_with(conn: Any) -> None:
    dead(conn, "j", tenant="nobody")
    assert tell.dead_letters(conn) == 0
    assert rows(conn, "SELECT * FROM notice_due") == []


def test_a_table_that_refuses_one_tenant_keeps_nobody_elses(conn: Any) -> None:
    conn.execute("""ALTER TABLE "Notification" ADD CONSTRAINT no_globex CHECK ("tenantId" <> 'globex')""")
    try:
        dead(conn, "a", tenant="globex")
        dead(conn, "b")
        tell.dead_letters(conn)
        tell.dead_letters(conn)
        assert rows(conn, "SELECT tries FROM notice_due") == [{"tries": 1}], "not again at once"
        for _ in range(tell.MOST_TRIES):
            conn.execute("UPDATE notice_due SET at = at - interval '5 hours'")
            tell.dead_letters(conn)
        assert len(told(conn)) == 2
        assert [row["tries"] for row in rows(conn, "SELECT tries FROM notice_due")] == [tell.MOST_TRIES]
    finally:
        conn.execute('ALTER TABLE "Notification" DROP CONSTRAINT no_globex')


def test_a_table_that_refuses_for_a_while_costs_no_notification(conn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many wait: each is tried once a turn."""
    monkeypatch.setattr(tell, "BATCH", 2)
    for n in range(4):
        dead(conn, f"j{n}")
    conn.execute("""ALTER TABLE "Notification" ADD CONSTRAINT no_acme CHECK ("tenantId" <> 'acme')""")
    try:
        tell.dead_letters(conn)
    finally:
        conn.execute('ALTER TABLE "Notification" DROP CONSTRAINT no_acme')
    assert [row["tries"] for row in rows(conn, "SELECT tries FROM notice_due")] == [1] * 4
    conn.execute("UPDATE notice_due SET at = at - interval '4 minutes'")
    assert tell.dead_letters(conn) == 8


def test_rows_of_one_tenant_alone_may_be_written_under_row_level_security(conn: Any) -> None:
    """Another program's tables may let through one tenant at a time: the tenant is named, as that program does."""
    dead(conn, "j")
    with conn.transaction():
        tell.dead_letters(conn)
        assert conn.execute("SELECT current_setting('app.current_tenant')").fetchone() == ("acme",)
    assert conn.execute("SELECT current_setting('app.current_tenant', true)").fetchone()[0] in ("", None)


def test_the_end_of_an_analysis_is_told_as_the_artifacts(conn: Any) -> None:
    insert(conn, "j", type="ARTIFACT_INTEL", status="RUNNING", startedAt="2026-01-01",
           config='{"artifactId": "a1", "artifactName": "plan.pdf"}')  # fmt: skip
    dead(conn, "j", type="ARTIFACT_INTEL")
    tell.dead_letters(conn)
    assert told(conn) == [("adam", "ARTIFACT_FAILED"), ("olga", "ARTIFACT_FAILED")]
    assert "plan.pdf" in notifications(conn)[0]["title"]
    assert notifications(conn)[0]["metadata"]["artifactId"] == "a1"


def test_an_artifact_whose_analysis_is_dead_does_not_wait_for_ever(conn: Any) -> None:
    """Whoever was killed with it could not mark it."""
    for id_, tenant, status in (("a1", "acme", "PENDING"), ("a2", "globex", "PENDING"), ("a3", "acme", "READY")):
        ProjectArtifact.objects.create(id=id_, tenant_id=tenant, name="plan.pdf", storage_key="k", status=status)
        insert(conn, f"j-{id_}", type="ARTIFACT_INTEL", status="RUNNING", startedAt="2026-01-01",
               config=f'{{"artifactId": "{id_}"}}')  # fmt: skip
        dead(conn, f"j-{id_}", type="ARTIFACT_INTEL")
    tell.dead_letters(conn)
    found = {one.id: (one.status, one.summary) for one in ProjectArtifact.objects.all()}
    assert found["a1"] == ("ERROR", FAILED_SUMMARY)
    assert found["a2"][0] == "PENDING", "the job is another tenant's"
    assert found["a3"][0] == "READY"


def test_what_is_unread_is_counted_without_what_was_read(conn: Any) -> None:
    conn.execute("""INSERT INTO "Notification" (id, "tenantId", "userId", type, title, body, metadata, read)
                    SELECT 'n' || n, 'acme', 'olga', 't', 't', 'b', '{}', n > 3 FROM generate_series(1, 20000) n""")
    conn.execute('ANALYZE "Notification"')
    plan = conn.execute("""EXPLAIN SELECT 1 FROM "Notification" WHERE "userId" = 'olga' AND NOT read LIMIT 1000""")
    assert "notification_unread" in str(plan.fetchall())


@pytest.mark.parametrize("config", ["[]", '"text"', "null", '{"artifactId": {"a": 1}}'])
def test_odd_configs_are_told_too(conn: Any, config: str) -> None:
    insert(conn, "j", type="ARTIFACT_INTEL", status="RUNNING", startedAt="2026-01-01", config=config)
    dead(conn, "j", type="ARTIFACT_INTEL")
    assert tell.dead_letters(conn) == 2


def test_other_code_tells_of_an_artifact_once_an_occasion(conn: Any) -> None:
    for _ in range(2):
        product.artifact_failed("acme", "a1", "plan.pdf", "the file is gone", occasion="upload 1", using=conn)
    assert len(told(conn)) == 2


def test_a_pause_of_a_tenant_is_told_to_it_alone_and_once(conn: Any) -> None:
    pauses.pause(reason="they asked", owner="dana", tenant_id="acme", using=conn)
    assert tell.paused(conn) == 2
    assert tell.paused(conn) == 0
    assert told(conn) == [("adam", "QUEUE_PAUSED"), ("olga", "QUEUE_PAUSED")]
    assert "they asked" in notifications(conn)[0]["body"]


def test_a_pause_of_a_type_is_told_to_those_whose_jobs_wait_without_its_reason(conn: Any) -> None:
    pauses.pause(reason="globex hammers us", owner="dana", type="CRAWL", using=conn)
    assert tell.paused(conn) == 0
    insert(conn, "j", tenantId="acme")
    insert(conn, "k", tenantId="globex", type="OTHER")
    Sweep(conn, timedelta(minutes=30), timedelta(seconds=15), 0.0, random.Random(1)).light()
    assert tell.paused(conn) == 2
    assert {row["tenantId"] for row in notifications(conn)} == {"acme"}
    assert not any("globex" in row["body"] + row["title"] for row in notifications(conn))


def test_the_flag_of_other_programs_is_a_pause(conn: Any) -> None:
    insert(conn, "j")
    Sweep(conn, timedelta(minutes=30), timedelta(seconds=15), 0.0, random.Random(1)).light()
    conn.execute("""INSERT INTO "SystemConfig" (key, value) VALUES ('queue.paused', 'true')""")
    assert tell.paused(conn) == 2
    assert tell.paused(conn) == 0
