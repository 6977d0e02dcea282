"""One job's page: everything about it, whatever it holds."""

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from jobs.models import Job, Worker
from jobs.operations import actions
from jobs.queue import liveness
from tests.console.addresses import HTMX
from tests.factories import JobFactory, LogFactory, WorkerFactory
from tests.queue.helpers import running

pytestmark = pytest.mark.django_db


def insert(job_id: str, config: str, result: str | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO "PlatformJob" (id, "tenantId", type, config, result) VALUES (%s, 't', 'CRAWL', %s, %s)""",
            [job_id, config, result],
        )


def test_every_digit_of_a_number_is_shown_and_survives_a_new_run(operator: Client) -> None:
    config = '{"id": 1970670598291982290, "neg": -9223372036854775808, "big": 123456789012345678901234567890, "f": 0.1}'
    insert("9007199254740993", config)
    Job.objects.filter(id="9007199254740993").update(status="DONE")
    page = operator.get("/jobs/9007199254740993/").content.decode()
    for digits in ("1970670598291982290", "-9223372036854775808", "123456789012345678901234567890", "0.1"):
        assert f"<span>{digits}</span>" in page
    operator.post("/actions/rerun/", {"id": "9007199254740993", "reason": "again"})
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT config - ARRAY['tenantId', 'submittedBy']) FROM \"PlatformJob\"")
        assert cursor.fetchone() == (1,)


def test_a_value_that_no_tree_can_show_is_said_and_can_be_had(viewer: Client) -> None:
    insert("long", '{"n": 1e5000}')
    insert("deep", '{"a":' * 900 + "1" + "}" * 900)
    insert("wide", json.dumps({f"key{n}": n for n in range(200_000)}))
    for job_id, said in {"long": "cannot be displayed", "deep": "too deep", "wide": "Cut:"}.items():
        response = viewer.get(f"/jobs/{job_id}/")
        assert response.status_code == 200 and said.lower() in response.content.decode().lower()
        assert len(response.content) < 500_000
        raw = viewer.get("/raw/config/", {"id": job_id})
        assert raw.status_code == 200 and raw["Content-Disposition"].startswith("attachment")
        assert raw["Content-Type"].startswith("application/json")
    assert viewer.get("/jobs/").status_code == 200


def test_a_huge_job_stays_a_small_page_and_its_polled_part_smaller(viewer: Client) -> None:
    JobFactory(
        id="huge", dead=True, error="e" * 10_000_000, result={"r": "x" * 5_000_000}, config={"c": ["y" * 100] * 20_000},
        checkpoint={"b": "z" * 5_000_000},
    )  # fmt: skip
    page = viewer.get("/jobs/huge/")
    assert len(page.content) < 500_000
    part_url = page.content.decode().split('id="job-live" data-live data-live-url="')[1].split('"')[0]
    part = viewer.get(part_url, headers=HTMX)
    assert len(part.content) < 60_000 and b"zzzz" not in part.content
    assert b"zzzz" in viewer.get("/jobs/huge/?have=older", headers=HTMX).content
    assert viewer.get("/raw/error/", {"id": "huge"})["Content-Type"].startswith("text/plain")


def test_the_timeline_says_who_and_why_and_the_attempts_what_came_of_each(viewer: Client) -> None:
    JobFactory(id="a")
    with connection.cursor() as cursor:
        for number in range(3):
            cursor.execute(
                """UPDATE "PlatformJob" SET status = 'RUNNING', "startedAt" = clock_timestamp(), "workerId" = %s""",
                [f"w:{number}:a"],
            )
            cursor.execute(
                """UPDATE "PlatformJob" SET status = 'RETRY_WAIT', error = %s, "failureType" = 'TRANSIENT', "workerId" = NULL""",
                [f"HTTP 50{number}"],
            )
    actions.run_now(actions.Person("dana"), ["a"], "the proxy is back")
    page = viewer.get("/jobs/a/").content.decode()
    assert "dana" in page and "the proxy is back" in page and "Retry wait → Queued" in page and "Enqueued" in page
    assert page.count("w:0:a") >= 1 and all(f"HTTP 50{number}" in page for number in range(3))
    assert "8 changes, newest first" in page


def test_a_long_history_is_bounded_and_says_what_is_left_out(viewer: Client) -> None:
    JobFactory(id="a")
    with connection.cursor() as cursor:
        for _ in range(130):
            cursor.execute("""UPDATE "PlatformJob" SET status = 'RUNNING', "startedAt" = clock_timestamp()""")
            cursor.execute("""UPDATE "PlatformJob" SET status = 'QUEUED', "startedAt" = NULL""")
    page = viewer.get("/jobs/a/")
    assert "61 older changes are not shown" in page.content.decode() and len(page.content) < 300_000


def test_the_last_lines_of_the_log_are_there(viewer: Client) -> None:
    JobFactory(id="a", running=True)
    for number in range(250):
        LogFactory(job_id="a", message=f"page {number} fetched")
    page = viewer.get("/jobs/a/").content.decode()
    assert "page 249 fetched" in page and "page 49 fetched" not in page


def test_buttons_follow_the_state_and_the_role(viewer: Client, admin: Client) -> None:
    labels = {"queued": {"Cancel…"}, "dead": {"Retry…", "Run again…"}, "retry_wait": {"Run now…", "Cancel…"},
              "running": {"Cancel…", "Force cancel…"}, "done": {"Run again…"}}  # fmt: skip
    every = set().union(*labels.values())
    for trait, expected in labels.items():
        job = JobFactory(**({} if trait == "queued" else {trait: True}))
        page = admin.get(f"/jobs/{job.id}/").content.decode()
        assert {label for label in every if label in page} == expected, trait
        page = viewer.get(f"/jobs/{job.id}/").content.decode()
        assert "/dialogs/" not in page and "For operator, support or admin" in page


def test_a_purged_job_says_when_and_by_whom(viewer: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO job_trash (job_id, tenant_id, row, purged_at, purged_by) VALUES ('gone', 't', '{}', %s, 'dana')",
            [timezone.now() - timedelta(hours=1)],
        )
    response = viewer.get("/jobs/gone/")
    assert response.status_code == 404 and "purged" in response.content.decode() and "dana" in response.content.decode()


def test_times_use_the_offset_of_their_own_day(viewer: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET TIME ZONE 'America/Sao_Paulo'")
    try:
        for job_id, moment in {"w": "2026-01-01T12:00Z", "s": "2026-07-01T12:00Z", "a": "2026-10-25T00:30Z"}.items():
            JobFactory(id=job_id, queued_at=moment)
        viewer.cookies["detiq_zone"] = "Europe%2FBerlin"
        assert "1 Jan 2026 13:00:00" in viewer.get("/jobs/w/").content.decode()
        assert "1 Jul 2026 14:00:00" in viewer.get("/jobs/s/").content.decode()
        assert "02:30:00 +02:00" in viewer.get("/jobs/a/").content.decode()
        viewer.cookies["detiq_zone"] = "../../etc/passwd"
        assert "1 Jan 2026 12:00:00" in viewer.get("/jobs/w/").content.decode()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET TIME ZONE 'UTC'")


def test_numbers_that_no_float_holds_are_shown_as_they_are_stored(viewer: Client) -> None:
    insert("n", '{"huge": 1e400, "int": 9223372036854775808, "zero": -0.0, "cents": 0.10, "small": 1e-30}')
    page = viewer.get("/jobs/n/").content.decode()
    for digits in ("1" + "0" * 400, "9223372036854775808", "0.10", "0.000000000000000000000000000001"):
        assert f"<span>{digits}</span>" in page, digits
    assert b"0.10" in viewer.get("/raw/config/?id=n").content


# --- is a run alive? --------------------------------------------------------------------------------------------------
def alive(client: Client, **columns: object) -> str:
    """What the page of a running job says of its life."""
    job = JobFactory(running=True, worker_id="w:1:a", started_at=timezone.now() - timedelta(hours=2), **columns)
    page = client.get(f"/jobs/{job.id}/", headers=HTMX).content.decode()
    section = page.split("Is it alive?")[1].split("</p>")[0]
    return " ".join(re.sub(r"<[^>]+>", " ", section).split())


def ago(**span: float) -> datetime:
    return timezone.now() - timedelta(**span)


def test_a_run_that_beats_is_alive(viewer: Client) -> None:
    WorkerFactory(id="w:1:a")
    said = alive(viewer, progress_at=ago(minutes=1))
    assert said.startswith("Alive Last heartbeat") and "Frozen" not in said


def test_a_run_that_beats_and_does_not_move_is_frozen(viewer: Client) -> None:
    WorkerFactory(id="w:1:a")
    assert alive(viewer, progress_at=ago(minutes=40)).startswith("Frozen It beats, but nothing has moved for 40 min.")
    assert alive(viewer, progress_at=ago(minutes=40), checkpoint_at=ago(minutes=2)).startswith("Alive")
    # What it never reported, or reported in an earlier run, says nothing about this one.
    assert alive(viewer).startswith("Alive")
    assert alive(viewer, progress_at=ago(days=2)).startswith("Alive")


def test_a_silent_run_of_a_live_worker_a_lost_one_and_another_programs(viewer: Client) -> None:
    beat = {"heartbeat_at": ago(minutes=10)}
    assert alive(viewer, **beat).startswith("Silent No heartbeat for 10 min; its worker is in no registry.")
    worker = WorkerFactory(id="w:1:a")
    said = alive(viewer, **beat)
    assert said.startswith("Silent No heartbeat for 10 min, though its worker is alive.")
    assert "The sweep gives it up for lost in 19 min" in said
    Worker.objects.update(heartbeat_at=ago(minutes=9))
    assert alive(viewer, **beat).startswith(
        "Worker gone No heartbeat for 10 min, and its worker is not heard of either."
    )
    Worker.objects.update(stopped_at=ago(minutes=9))
    assert "its worker has stopped" in alive(viewer, **beat)
    assert "gives it up for lost now" in alive(viewer, heartbeat_at=ago(minutes=45))
    assert worker.id == "w:1:a"


def test_a_report_that_changes_something_is_when_it_last_moved(db_clean: None, make_conn: Callable[[], Any]) -> None:
    conn = make_conn()
    run = running(conn, "j", "w1")

    def moved() -> object:
        return conn.execute("""SELECT "progressAt" FROM "PlatformJob" WHERE id = 'j'""").fetchone()[0]

    assert moved() is None
    liveness.report_progress("w1", [liveness.Progress(run, 10, "page 1")], conn)
    first = moved()
    assert first is not None
    liveness.report_progress("w1", [liveness.Progress(run, 10, "page 1")], conn)
    assert moved() == first
    liveness.report_progress("w1", [liveness.Progress(run, 10, "page 2")], conn)
    assert moved() > first


# --- redrives ---------------------------------------------------------------------------------------------------------
def test_each_redrive_says_by_whom_and_what_came_of_it(viewer: Client) -> None:
    JobFactory(id="j")
    with connection.cursor() as cursor:
        for person, fingerprint in (("", "v1:a"), ("dana", "v1:a"), ("omar", "v1:b")):
            if person:
                actions.retry(actions.Person(person), ["j"], "the proxy is back")
            cursor.execute("""UPDATE "PlatformJob" SET status = 'RUNNING', "startedAt" = clock_timestamp()""")
            cursor.execute(
                """UPDATE "PlatformJob" SET status = 'FAILED', dlq = true, "dlqAt" = clock_timestamp(), fingerprint = %s""",
                [fingerprint],
            )
    actions.retry(actions.Person("kim"), ["j"], "once more")
    page = viewer.get("/jobs/j/").content.decode()
    said = " ".join(re.sub(r"<[^>]+>", " ", page.split('aria-label="Links"')[1]).split())
    assert re.search("by kim: “once more” → not ended yet.*by omar.*→ Dead-lettered.*by dana.*→ same error", said), said
    assert "3 ×" in page
