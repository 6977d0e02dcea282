"""One job's page: everything about it, whatever it holds."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from jobs.models import Job
from jobs.operations import actions
from tests.console.addresses import HTMX
from tests.factories import JobFactory, LogFactory

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
