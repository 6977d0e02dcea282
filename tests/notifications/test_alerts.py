"""Alerts open, go on and close; one a rule and subject, however many look; messages are written with them."""

import random
import threading
from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Any

import pytest

from jobs import demo
from jobs.domain.alerts import Quiet
from jobs.notifications import watch
from jobs.queue import pauses
from jobs.queue.retention import Retention
from jobs.queue.sweep import Sweep
from tests.notifications.helpers import SILENT, alerts, at, channel, dead, deliveries, evaluate, only, rows
from tests.queue.helpers import insert


def database_now(conn: Any) -> datetime:
    moment: datetime = conn.execute("SELECT clock_timestamp()").fetchone()[0]
    return moment


def fold(conn: Any) -> None:
    Sweep(conn, timedelta(minutes=30), timedelta(seconds=15), 0.0, random.Random(1)).light()


def open_rules(conn: Any) -> list[str]:
    return sorted(row["rule"] for row in alerts(conn) if row["closed_at"] is None)


def worker(conn: Any, beat: str = "clock_timestamp()", id: str = "w") -> None:
    conn.execute(f"INSERT INTO worker (id, host, pid, slots, types, heartbeat_at) VALUES (%s, 'h', 1, 8, '{{CRAWL}}', {beat})", [id])  # fmt: skip


# --- Life -------------------------------------------------------------------------------------------------------------
def test_dead_letters_open_one_alert_that_closes_when_they_stop(conn: Any) -> None:
    only(conn, "dlq_growth", threshold=3, minutes=5)
    now = database_now(conn)
    for n in range(2):
        dead(conn, f"j{n}")
    evaluate(conn)
    assert alerts(conn) == [], "under the threshold"
    dead(conn, "j2", type="DISCOVER")
    evaluate(conn)
    evaluate(conn)
    (alert,) = alerts(conn)
    assert (alert["rule"], alert["subject"], alert["tenant_id"], alert["closed_at"]) == ("dlq_growth", "", None, None)
    assert "3 jobs were dead-lettered in 5 min" in alert["title"]
    assert alert["evidence_url"] == "/dlq/" and alert["action_url"] == "/pauses/new/?type=CRAWL"
    later = now + timedelta(minutes=7)
    evaluate(conn, later)
    (alert,) = alerts(conn)
    assert alert["closed_at"] == later


def test_what_comes_back_within_two_minutes_is_the_same_alert(conn: Any) -> None:
    only(conn, "group_regressed")
    start = at(2, 12)
    conn.execute("""INSERT INTO failure_group (fingerprint, type, failure_type, job_id, first_at, last_at, n, dead, state)
                    VALUES ('v1:a', 'CRAWL', 'LOGICAL', 'j', now(), now(), 1, 1, 'REGRESSED')""")
    evaluate(conn, start)
    conn.execute("UPDATE failure_group SET state = 'KNOWN'")
    evaluate(conn, start + timedelta(seconds=60))
    assert open_rules(conn) == ["group_regressed"], "not over yet"
    conn.execute("UPDATE failure_group SET state = 'REGRESSED'")
    evaluate(conn, start + timedelta(seconds=110))
    conn.execute("UPDATE failure_group SET state = 'KNOWN'")
    evaluate(conn, start + timedelta(seconds=200))
    assert open_rules(conn) == ["group_regressed"]
    evaluate(conn, start + timedelta(seconds=240))
    assert open_rules(conn) == [] and len(alerts(conn)) == 1
    conn.execute("UPDATE failure_group SET state = 'REGRESSED'")
    evaluate(conn, start + timedelta(seconds=300))
    assert len(alerts(conn)) == 2, "once it was over, it is another one"


@pytest.mark.parametrize("every", [timedelta(seconds=10), timedelta(minutes=6)])
def test_what_comes_and_goes_all_day_is_a_handful_of_messages(conn: Any, every: timedelta) -> None:
    """It holds at each second look, slower than the time after which an alert is over."""
    only(conn, "group_regressed")
    channel()
    now = at(2, 0)
    for _ in range(30):
        for state in ("REGRESSED", "KNOWN"):
            regress(conn, state)
            evaluate(conn, now)
            conn.execute("UPDATE alert_delivery SET state = 'SENT', attempts = 1")
            now += every / 2
    assert len(deliveries(conn)) <= 5


def test_a_rule_that_is_switched_off_closes_its_alerts(conn: Any) -> None:
    only(conn, "no_worker")
    worker(conn, "clock_timestamp() - interval '10 minutes'")
    evaluate(conn)
    assert open_rules(conn) == ["no_worker"]
    conn.execute("UPDATE alert_rule SET enabled = false")
    evaluate(conn)
    assert open_rules(conn) == []


def test_two_evaluations_at_once_make_one(conn: Any, make_conn: Callable[[], Any]) -> None:
    only(conn, "no_worker")
    worker(conn, "clock_timestamp() - interval '10 minutes'")
    channel()
    connections = [make_conn() for _ in range(4)]
    barrier, answers = threading.Barrier(4), []

    def look(one: Any) -> None:
        barrier.wait()
        answers.append(evaluate(one))

    threads = [threading.Thread(target=look, args=[one]) for one in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(alerts(conn)) == 1 and len(deliveries(conn)) == 1
    assert sum(answer or 0 for answer in answers) == 1


def test_while_one_evaluates_nobody_else_does_and_nobody_again_at_once(conn: Any, make_conn: Callable[[], Any]) -> None:
    other = make_conn()
    with other.transaction():
        assert watch.evaluate(SILENT, other) == 0
        assert watch.evaluate(SILENT, conn) is None, "the other holds the lock"
    assert watch.evaluate(SILENT, conn) is None, "it was done just now"


def test_whoever_is_killed_in_it_leaves_all_as_it_was(conn: Any, make_conn: Callable[[], Any]) -> None:
    only(conn, "no_worker")
    worker(conn, "clock_timestamp() - interval '10 minutes'")
    channel()
    killed = make_conn()
    with pytest.raises(RuntimeError), killed.transaction():
        evaluate(killed)
        raise RuntimeError("killed before its commit")
    assert alerts(conn) == deliveries(conn) == []
    evaluate(conn)
    assert len(alerts(conn)) == len(deliveries(conn)) == 1


@pytest.mark.parametrize(
    ("night", "now", "ends"),
    [
        ((22, 0, 7, 0), "2026-03-28T23:30+00:00", "2026-03-29T05:00+00:00"),  # clocks go forward at 2
        ((22, 0, 2, 30), "2026-03-29T00:45+00:00", "2026-03-29T01:30+00:00"),  # half past two is none that night
        ((22, 0, 7, 0), "2026-10-24T22:30+00:00", "2026-10-25T06:00+00:00"),  # clocks go back at 3
        ((22, 0, 2, 30), "2026-10-25T01:10+00:00", "2026-10-25T01:30+00:00"),  # half past two comes twice
        ((0, 0, 7, 0), "2026-11-02T23:00+00:00", "2026-11-03T06:00+00:00"),
        ((22, 0, 0, 0), "2026-11-02T22:59+00:00", "2026-11-02T23:00+00:00"),
        ((22, 0, 7, 0), "2026-11-02T06:00+00:00", None),
        ((22, 0, 7, 0), "2026-11-02T20:59:59+00:00", None),
    ],
)
def test_quiet_hours_end_where_the_clock_on_the_wall_says(night: Any, now: str, ends: str | None) -> None:
    quiet = Quiet(time(*night[:2]), time(*night[2:]), "Europe/Berlin")
    assert quiet.until(datetime.fromisoformat(now)) == (ends and datetime.fromisoformat(ends))


# --- Rules ------------------------------------------------------------------------------------------------------------
def test_no_worker(conn: Any) -> None:
    only(conn, "no_worker")
    evaluate(conn)
    assert open_rules(conn) == [], "nothing has ever run, and nothing waits"
    worker(conn, "clock_timestamp() - interval '90 seconds'")
    evaluate(conn)
    assert open_rules(conn) == [], "not for two minutes yet"
    conn.execute("UPDATE worker SET heartbeat_at = clock_timestamp() - interval '3 minutes'")
    evaluate(conn)
    (alert,) = alerts(conn)
    assert alert["critical"]
    worker(conn, id="new")
    evaluate(conn, database_now(conn) + timedelta(seconds=30))
    assert open_rules(conn) == ["no_worker"]


def test_a_queue_that_does_not_drain(conn: Any) -> None:
    only(conn, "not_draining", threshold=3)
    for n in range(4):
        insert(conn, f"j{n}")
    fold(conn)
    now = database_now(conn) + timedelta(minutes=2)
    evaluate(conn, now)
    assert open_rules(conn) == ["not_draining"]
    assert "4 came and 0 started" in alerts(conn)[0]["detail"]


def test_a_queue_that_drains_or_is_held_is_no_alert(conn: Any) -> None:
    only(conn, "not_draining", threshold=3)
    for n in range(9):
        insert(conn, f"j{n}")
    fold(conn)
    conn.execute("UPDATE tally_flow SET minute = minute - interval '1 hour'")
    conn.execute("""UPDATE "PlatformJob" SET status = 'RUNNING', "startedAt" = now() WHERE id < 'j3'""")
    evaluate(conn, database_now(conn) + timedelta(minutes=2))
    assert alerts(conn) == [], "three started, none came"
    conn.execute("DELETE FROM tally_delta")
    pauses.pause(reason="x", owner="dana", type="CRAWL", using=conn)
    evaluate(conn, database_now(conn) + timedelta(minutes=2))
    assert alerts(conn) == []


def test_the_oldest_wait_of_a_type_that_no_pause_holds(conn: Any) -> None:
    only(conn, "oldest_wait")
    insert(conn, "a", queuedAt="2026-01-01")
    insert(conn, "b", type="a&b=c", queuedAt="2026-01-01")
    insert(conn, "c", type="NEW")
    pauses.pause(reason="x", owner="dana", type="CRAWL", using=conn)
    evaluate(conn)
    (alert,) = alerts(conn)
    assert alert["subject"] == "a&b=c"
    assert alert["action_url"] == "/why/?state=QUEUED&type=a%26b%3Dc"


def test_a_pause_that_is_about_to_end(conn: Any) -> None:
    only(conn, "pause_ending")
    pauses.pause(reason="proxies", owner="dana", tenant_id="acme", ends_in_seconds=300, using=conn)
    pauses.pause(reason="later", owner="dana", type="CRAWL", ends_in_seconds=3600, using=conn)
    pauses.pause(reason="open", owner="dana", type="OTHER", using=conn)
    evaluate(conn)
    (alert,) = alerts(conn)
    assert alert["tenant_id"] == "acme" and "proxies" in alert["detail"]
    assert alert["action_url"] == "/pauses/new/?tenant=acme"


def test_dead_letters_of_one_tenant_are_an_alert_of_that_tenant(conn: Any) -> None:
    only(conn, "tenant_dead", threshold=2)
    for n in range(2):
        dead(conn, f"a{n}")
    dead(conn, "g", tenant="globex")
    fold(conn)
    evaluate(conn)
    assert [(row["subject"], row["tenant_id"]) for row in alerts(conn)] == [("acme", "acme")]


def test_all_rules_on_an_empty_queue_say_nothing(conn: Any) -> None:
    assert evaluate(conn) == 0
    assert alerts(conn) == []
    assert rows(conn, "SELECT * FROM sweep_duty WHERE error IS NOT NULL") == []


# --- Messages ---------------------------------------------------------------------------------------------------------
def regress(conn: Any, state: str = "REGRESSED") -> None:
    conn.execute(
        """INSERT INTO failure_group (fingerprint, type, failure_type, job_id, first_at, last_at, n, dead, state)
           VALUES ('v1:a', 'CRAWL', 'LOGICAL', 'j', now(), now(), 1, 1, %s)
           ON CONFLICT (fingerprint) DO UPDATE SET state = EXCLUDED.state""",
        [state],
    )


def test_each_channel_gets_its_message_and_only_critical_ones_if_it_wants(conn: Any) -> None:
    only(conn, "group_regressed")
    channel(name="all")
    channel(name="critical", only_critical=True)
    channel(name="off", enabled=False)
    regress(conn)
    assert evaluate(conn, at(2, 12)) == 1
    assert [(row["event"], row["state"], row["due_at"]) for row in deliveries(conn)] == [
        ("opened", "PENDING", at(2, 12))
    ]


def test_quiet_hours_hold_back_what_is_not_critical(conn: Any) -> None:
    only(conn, "group_regressed")
    channel(name="berlin", quiet_from=time(22), quiet_to=time(7), zone="Europe/Berlin")
    regress(conn)
    evaluate(conn, at(2, 23))
    (held,) = deliveries(conn)
    assert held["due_at"] == at(3, 6), "seven o'clock in Berlin"


def test_critical_ones_wake_people(conn: Any) -> None:
    only(conn, "group_regressed")
    conn.execute("UPDATE alert_rule SET critical = true")
    channel(name="berlin", quiet_from=time(22), quiet_to=time(7))
    regress(conn)
    evaluate(conn, at(2, 23))
    assert deliveries(conn)[0]["due_at"] == at(2, 23)


def test_what_becomes_critical_is_no_longer_held_back(conn: Any) -> None:
    only(conn, "group_regressed")
    channel(name="night", quiet_from=time(22), quiet_to=time(7))
    channel(name="pager", only_critical=True)
    regress(conn)
    evaluate(conn, at(2, 23))
    conn.execute("UPDATE alert_rule SET critical = true")
    evaluate(conn, at(2, 23, 1))
    assert [row["due_at"] for row in deliveries(conn)] == [at(2, 23, 1)] * 2


def test_the_end_is_told_to_whom_the_beginning_was(conn: Any) -> None:
    only(conn, "group_regressed")
    told, held = channel(name="told"), channel(name="held", quiet_from=time(0), quiet_to=time(23))
    regress(conn)
    evaluate(conn, at(2, 12))
    conn.execute("UPDATE alert_delivery SET state = 'SENT', attempts = 1 WHERE channel_id = %s", [told.pk])
    channel(name="later")
    regress(conn, "KNOWN")
    evaluate(conn, at(2, 12, 3))
    assert [(row["channel_id"], row["event"]) for row in deliveries(conn)] == [
        (told.pk, "opened"), (held.pk, "opened"), (told.pk, "closed")]  # fmt: skip


def test_a_message_that_is_being_sent_while_it_ends_is_followed_by_its_end(
    conn: Any, make_conn: Callable[[], Any]
) -> None:
    only(conn, "group_regressed")
    channel()
    regress(conn)
    evaluate(conn, at(2, 12))
    conn.execute("UPDATE alert_delivery SET attempts = 1")
    regress(conn, "KNOWN")
    evaluate(conn, at(2, 12, 3))
    assert [row["event"] for row in deliveries(conn)] == ["opened", "closed"]


def test_what_is_asked_of_many_messages_reads_few_and_the_old_ones_go(conn: Any) -> None:
    channel(name="busy"), channel(name="idle")
    conn.execute("""INSERT INTO alert (rule, subject, title, opened_at, seen_at, closed_at)
                    SELECT 'r', '', 't', now() - interval '90 days', now(), now() - n * interval '1 hour'
                      FROM generate_series(1, 10000) n""")
    conn.execute("""INSERT INTO alert_delivery (alert_id, channel_id, event, state, created_at, sent_at)
                    SELECT id, (SELECT min(id) FROM alert_channel), 'opened', 'SENT', closed_at, closed_at FROM alert""")
    conn.execute("""INSERT INTO alert_delivery (channel_id, event, created_at)
                    SELECT min(id), 'test', '2020-01-01' FROM alert_channel""")
    conn.execute("""INSERT INTO notice_due (tenant_id, job_id, type, at, tries)
                    SELECT 't', 'j', 'T', '2020-01-01', 5 FROM generate_series(1, 9000)""")
    conn.execute("ANALYZE alert_delivery, alert")
    for statement in (
        "SELECT max(sent_at) FROM alert_delivery WHERE channel_id = 1",
        "DELETE FROM alert_delivery WHERE channel_id = 2",
        "DELETE FROM alert_delivery WHERE event = 'test' AND created_at < now()",
    ):
        plan = str(conn.execute(f"EXPLAIN {statement}").fetchall())
        assert "Seq Scan on alert_delivery" not in plan, statement
    retention = Retention(timedelta(days=90))
    (done,) = retention.prune([one for one in retention.all() if one.name == "alerts"], 30)
    assert done.error is None and rows(conn, "SELECT 1 FROM notice_due") == []
    left = rows(conn, "SELECT count(*) AS n, count(*) FILTER (WHERE event = 'test') AS tests FROM alert_delivery")
    assert left == [{"n": 24 * 90 - 1, "tests": 0}]


def test_the_demo_has_something_to_say(conn: Any) -> None:
    demo.make("http://127.0.0.1:9", 9)
    watch.turn(SILENT, conn)
    assert open_rules(conn) == ["pause_ending"]
    told = [(row["userId"], row["type"]) for row in rows(conn, 'SELECT * FROM "Notification" ORDER BY "userId"')]
    assert told == [("admin", "QUEUE_PAUSED"), ("support", "QUEUE_PAUSED")]
    tenants = {tenant for (tenant,) in conn.execute('SELECT DISTINCT "tenantId" FROM "PlatformJob"').fetchall()}
    assert {tenant for (tenant,) in conn.execute('SELECT DISTINCT "tenantId" FROM "Membership"').fetchall()} == tenants
