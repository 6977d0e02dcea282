"""A type that stops is noticed in the stated time, and never in hours in which it is usually quiet."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from jobs.domain import silence as domain
from jobs.queue import pauses
from tests.notifications.helpers import alerts, at, evaluate, only

WEEKS = timedelta(days=28)
KNOWN = at(30, 0) - WEEKS
# An office type: 120 an hour from 8 to 18 UTC on weekdays, hardly any at night, none on Sundays.
RATES = {"day": 120, "night": 1}


def office(hour: datetime) -> int:
    if hour.isoweekday() == 7:
        return 0
    return RATES["day"] if 8 <= hour.hour < 18 else RATES["night"]


def hours() -> Iterator[datetime]:
    hour = KNOWN
    while hour < at(30, 0):
        yield hour
        hour += timedelta(hours=1)


@pytest.fixture
def weeks(conn: Any) -> None:
    """Four weeks of it, as they were folded."""
    only(conn, "silent_stop")
    with conn.cursor() as cursor, cursor.copy("COPY type_hour (hour, type, done, came) FROM STDIN") as copy:
        for hour in hours():
            copy.write_row((hour, "INVOICE", office(hour), office(hour)))
    conn.execute("INSERT INTO alert_mark (name, at) VALUES ('known', %s), ('hours', %s)", [KNOWN, at(30, 0)])


def move(conn: Any, minute: datetime, n: int = 1, type: str = "INVOICE", done: bool = True) -> None:
    change = ("RUNNING", "DONE") if done else ("", "QUEUED")
    conn.execute(
        "INSERT INTO tally_flow (minute, type, from_state, to_state, bucket, n) VALUES (%s, %s, %s, %s, 0, %s)",
        [minute, type, *change, n],
    )


def opened(conn: Any) -> list[str]:
    return [row["subject"] for row in alerts(conn, "silent_stop") if row["closed_at"] is None]


def look(conn: Any, now: datetime) -> list[str]:
    evaluate(conn, now)
    return opened(conn)


def test_the_consumer_stops_at_ten(conn: Any, weeks: None) -> None:
    """2026-11-30 is a Monday. Twenty-nine minutes of silence are nothing where two an hour are usual; here 120 are."""
    for minute in range(0, 120):
        move(conn, at(30, 8) + timedelta(minutes=minute), 2)
    conn.execute("INSERT INTO tally_type (type, state, n) VALUES ('INVOICE', 'QUEUED', 480)")
    assert look(conn, at(30, 10, 14)) == []
    assert look(conn, at(30, 10, 16)) == ["INVOICE"], "after the fifteen minutes that the rule says"
    (alert,) = alerts(conn)
    assert alert["title"] == "No INVOICE finished for 16 min, normally 120 an hour"
    assert "480 wait; no live worker does this type" in alert["detail"]
    assert alert["action_url"] == "/why/?state=QUEUED&type=INVOICE"
    assert look(
        conn,
        at(
            30,
            10,
            29,
        ),
    ) == ["INVOICE"]
    move(conn, at(30, 10, 29), 3)
    assert look(conn, at(30, 10, 30)) == ["INVOICE"], "for two minutes it may come back"
    assert look(conn, at(30, 10, 32)) == [], "it is over"


def test_the_producer_stops(conn: Any, weeks: None) -> None:
    for minute in range(0, 70):
        move(conn, at(30, 8) + timedelta(minutes=minute), 2)
        move(conn, at(30, 8) + timedelta(minutes=minute), 2, done=False)
    assert look(conn, at(30, 9, 40)) == ["INVOICE"]
    assert "No new one came since 2026-11-30 09:10 UTC" in alerts(conn)[0]["detail"]


def test_no_alarm_at_night(conn: Any, weeks: None) -> None:
    """The last one was done when the evening began."""
    for evening, hours_of_night in ((at(28, 17), (1, 3, 5, 7)), (at(30, 17), (19, 21, 23))):
        move(conn, evening + timedelta(minutes=59), 2)
        assert [look(conn, at(30, hour, 30)) for hour in hours_of_night] == [[]] * len(hours_of_night)


def test_no_alarm_on_sunday(conn: Any, weeks: None) -> None:
    conn.execute("DELETE FROM type_hour WHERE hour >= %s", [at(29, 0)])
    move(conn, at(28, 23, 50))
    for hour in range(0, 24, 3):
        assert look(conn, at(29, hour, 30)) == []


def test_monday_morning_without_a_start_is_noticed(conn: Any, weeks: None) -> None:
    move(conn, at(30, 7, 50))
    assert look(conn, at(30, 8, 4)) == [], "four minutes of the day alone"
    assert look(conn, at(30, 8, 20)) == ["INVOICE"]


def test_one_outage_of_the_past_does_not_make_the_hour_deaf(conn: Any, weeks: None) -> None:
    conn.execute("UPDATE type_hour SET done = 0 WHERE hour BETWEEN %s AND %s", [at(23, 0), at(24, 0)])
    move(conn, at(30, 9, 59))
    assert look(conn, at(30, 10, 30)) == ["INVOICE"]


def test_what_is_paused_is_not_silent_and_counts_from_the_pauses_end(conn: Any, weeks: None) -> None:
    move(conn, at(30, 8, 30), 2)
    pause = pauses.pause(reason="x", owner="dana", type="INVOICE", using=conn)
    assert look(conn, at(30, 11)) == []
    conn.execute("UPDATE queue_pause SET lifted_at = %s, lifted_by = 'dana', created_at = %s WHERE id = %s",
                 [at(30, 11), at(30, 8), pause])  # fmt: skip
    assert look(conn, at(30, 11, 10)) == []
    assert look(conn, at(30, 11, 16)) == ["INVOICE"]


def test_a_new_type_is_left_alone(conn: Any, weeks: None) -> None:
    move(conn, at(30, 8), 500, type="NEW")
    assert look(conn, at(30, 12)) == ["INVOICE"]


def test_the_hours_are_folded_once(conn: Any, weeks: None) -> None:
    for minute in (1, 59):
        move(conn, at(30, 0, minute), 7)
    for minute in (5, 11, 30):
        evaluate(conn, at(30, 1, minute))
    found = conn.execute("SELECT done FROM type_hour WHERE hour = %s", [at(30, 0)]).fetchall()
    assert found == [(14,)]


def test_nothing_is_said_before_anything_is_known(conn: Any) -> None:
    only(conn, "silent_stop")
    move(conn, at(30, 8), 500)
    assert look(conn, at(30, 12)) == []


# --- The arithmetic ---------------------------------------------------------------------------------------------------
def test_usual_needs_two_weeks_or_three_days() -> None:
    now = at(20, 10)
    every_day = {now - timedelta(days=day): 60 for day in range(1, 20)}
    assert domain.usual(every_day, now, now - timedelta(days=2)) == 0
    assert domain.usual(every_day, now, now - timedelta(days=5)) == 60
    assert domain.usual({now - timedelta(days=7): 5, now - timedelta(days=14): 9}, now, now - timedelta(days=15)) == 5


def test_missing_takes_parts_of_hours() -> None:
    rates = {at(30, hour) - timedelta(days=7 * week): 60 for hour in (9, 10) for week in (1, 2, 3, 4)}
    assert domain.missing(rates, at(30, 9, 30), at(30, 10, 15), KNOWN) == pytest.approx(45)
    assert domain.missing(rates, at(30, 11), at(30, 23), KNOWN) == 0
