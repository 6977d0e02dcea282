"""Real workers: a death is told and an alert delivered without anybody's doing; a killed worker loses no message."""

import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from jobs.notifications import deliveries as queue
from jobs.workers import alerts as watch
from jobs.workers.delivery import deliver
from tests.notifications.helpers import (
    HANGS,
    SILENT,
    alerts,
    channel,
    dead,
    deliveries,
    evaluate,
    http_receiver,
    member,
    notifications,
    only,
    rows,
)
from tests.notifications.test_alerts import regress
from tests.together import at_once
from tests.workers.helpers import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
BRISK = {"JOB_WORKER_POLL_INTERVAL_MS": "300", "JOB_WORKER_CONCURRENCY": "1", "WEBHOOK_ALLOWED_HOSTS": "127.0.0.1"}


def test_from_plain_sql_to_owner_and_webhook_by_two_workers_one_of_which_is_killed_at_it(
    conn: Any, worker_process: Any
) -> None:
    """Both look at once; the one that sends is killed while the receiver hangs; the other sends again, once."""
    member(conn, "acme", "olga")
    only(conn, "dlq_growth", threshold=1, minutes=5)
    with http_receiver() as http:
        http.answers = [HANGS]
        channel(target=http.url)
        workers = {name: worker_process.start("worker", **BRISK, DETIQ_ENVIRONMENT=name) for name in ("one", "two")}
        for process in workers.values():
            process.wait_ready()
        dead(conn, "j")
        look_now(conn)
        wait_for(lambda: len(http.got) == 1)
        first = http.bodies[0]
        workers.pop(first["environment"]).kill()
        assert [(row["state"], row["attempts"]) for row in deliveries(conn)] == [("PENDING", 1)]
        assert [row["userId"] for row in notifications(conn)] == ["olga"]
        conn.execute("UPDATE alert_delivery SET due_at = clock_timestamp()")  # the lease is over
        queue.wake()  # else it is seen within a quarter of a minute
        wait_for(lambda: deliveries(conn)[0]["state"] == "SENT", 25)
        conn.execute("UPDATE alert_rule SET enabled = false")
        look_now(conn)
        wait_for(lambda: [row["state"] for row in deliveries(conn)] == ["SENT", "SENT"])
        look_now(conn)
        wait_for(lambda: conn.execute("SELECT 1 FROM alert_mark WHERE name = 'evaluated'").fetchone())
        (last,) = workers.values()
        last.terminate()
        assert last.wait() == 0
    assert [said["event"] for said in http.bodies] == ["opened", "opened", "closed"]
    assert http.bodies[1] | {"environment": first["environment"]} == first, "the same message, with the same id"


def look_now(conn: Any) -> None:
    """The rules are due at the workers' next sweep."""
    conn.execute("DELETE FROM alert_mark WHERE name = 'evaluated'")


def test_many_that_send_at_once_send_each_message_once(conn: Any, settings: Any) -> None:
    settings.DETIQ = replace(settings.DETIQ, webhook_allowed_hosts=frozenset({"127.0.0.1"}))
    only(conn, "group_regressed")
    regress(conn)
    with http_receiver() as http:
        for n in range(20):
            channel(target=http.url, name=f"c{n}")
        evaluate(conn)

        def send() -> None:
            while deliver():
                pass

        at_once(*[send] * 4)
    assert len(http.got) == len({said["id"] for said in http.bodies}) == 20
    assert {(row["state"], row["attempts"]) for row in deliveries(conn)} == {("SENT", 1)}


def test_a_console_steps_in_while_no_worker_watches(conn: Any, settings: Any) -> None:
    settings.DETIQ = replace(
        settings.DETIQ, webhook_allowed_hosts=frozenset({"127.0.0.1"}), stand_in=timedelta(seconds=60)
    )
    conn.execute("""INSERT INTO worker (id, host, pid, slots, heartbeat_at)
                    VALUES ('w', 'h', 1, 8, clock_timestamp() - interval '10 minutes')""")
    with http_receiver() as http:
        channel(target=http.url)
        assert watch.look()
        assert [row["rule"] for row in alerts(conn)] == ["no_worker"]
        assert http.bodies[0]["alert"]["title"] == "No worker is live"
        assert not watch.look(), "it was done just now"
    assert watch.silent_seconds() == SILENT


def test_a_console_ends_pauses_once_while_no_worker_does(conn: Any, settings: Any) -> None:
    """Other programs read the flag alone, and would wait for ever. The alerts' stand-in may be off."""
    settings.DETIQ = replace(settings.DETIQ, stand_in=timedelta(0))
    conn.execute("""INSERT INTO queue_pause (reason, owner, created_at, ends_at)
                    VALUES ('deploy', 'kim', now() - interval '2 hours', now() - interval '1 minute')""")
    conn.execute(
        """INSERT INTO queue_pause (reason, owner, type, ends_at) VALUES ('x', 'kim', 'T', now() + interval '1 h')"""
    )
    conn.execute("""INSERT INTO "SystemConfig" (key, value) VALUES ('queue.paused', 'true')""")

    at_once(*[watch.stand_in] * 4)
    assert rows(conn, "SELECT value FROM \"SystemConfig\" WHERE key = 'queue.paused'") == [{"value": "false"}]
    ended = rows(conn, "SELECT lifted_by, lift_reason, lifted_at = ends_at AS then FROM queue_pause ORDER BY id")
    assert ended == [{"lifted_by": "sweep", "lift_reason": "its end has come", "then": True},
                     {"lifted_by": None, "lift_reason": None, "then": None}]  # fmt: skip
    assert not rows(conn, "SELECT 1 FROM alert_mark")


def test_the_watch_is_a_duty_whose_error_is_written_down_and_stops_no_other(conn: Any) -> None:
    from jobs.notifications.watch import turn

    member(conn, "acme", "olga")
    dead(conn, "j")
    conn.execute("ALTER TABLE alert_rule RENAME TO alert_rule_away")
    try:
        assert turn(SILENT, conn).told == 1
    finally:
        conn.execute("ALTER TABLE alert_rule_away RENAME TO alert_rule")
    (error,) = rows(conn, "SELECT error FROM sweep_duty WHERE name = 'alerts'")
    assert "alert_rule" in error["error"]
    evaluate(conn)
    conn.execute("DELETE FROM alert_mark")
    turn(SILENT, conn)
    assert rows(conn, "SELECT error FROM sweep_duty WHERE name = 'alerts'") == [{"error": None}]


def test_an_evaluation_costs_little(conn: Any) -> None:
    """With everything on and twenty thousand hours to judge by."""
    with conn.cursor() as cursor, cursor.copy("COPY type_hour (hour, type, done, came) FROM STDIN") as copy:
        for hour in range(24 * 28):
            for number in range(30):
                copy.write_row((f"2026-11-{1 + hour // 24:02} {hour % 24:02}:00+00", f"T{number}", 5, 5))
    conn.execute("INSERT INTO alert_mark (name, at) VALUES ('known', '2026-10-01')")
    evaluate(conn)
    began = time.perf_counter()
    evaluate(conn)
    assert time.perf_counter() - began < 1
