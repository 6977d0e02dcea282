"""The jobs list: its address is its filter, its pages do not slip, its counts say how sure they are."""

import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.console import words
from jobs.console.links import job_url
from jobs.console.queries import jobs as read
from jobs.console.queries.db import TooSlow, limited
from tests.console.addresses import HTMX
from tests.factories import JobFactory, PauseFactory, WorkerFactory, at, everything

pytestmark = pytest.mark.django_db


def ids(html: str) -> list[str]:
    return re.findall(r'data-id="([^"]+)"', html)


def listed(client: Client, **params: str) -> list[str]:
    response = client.get("/jobs/", params, headers=HTMX)
    assert response.status_code == 200
    return ids(response.content.decode())


def test_filters_combine_and_stand_in_the_address(viewer: Client) -> None:
    JobFactory(id="1", tenant_id="acme", type="DISCOVER")
    JobFactory(id="2", tenant_id="acme", type="CRAWL", dead=True)
    JobFactory(id="3", tenant_id="globex", type="CRAWL", retry_wait=True, error="timeout 100% of it_all")
    JobFactory(id="4", tenant_id="acme", type="CRAWL", running=True, project_id="web", worker_id="w:1:a")
    JobFactory(id="5", tenant_id="acme", type="CRAWL", failed=True, queued_at=timezone.now() - timedelta(days=3))
    cases = {
        "4 2 5": {"tenant": "acme", "type": "CRAWL"},
        "2": {"state": "DEAD_LETTERED"},
        "5": {"state": "FAILED"},
        "2 5": {"state": "FAILED,DEAD_LETTERED"},
        "3": {"error": "100% of it_"},
        "4": {"worker": "w:1:a", "project": "web"},
        "2 ": {"failure": "LOGICAL"},
        "": {"error": "100%of"},
        "5 ": {"text": "5"},
    }
    for expected, params in cases.items():
        assert sorted(listed(viewer, **params)) == sorted(expected.split()), params
    assert "5" not in listed(viewer, age="24h")
    page = viewer.get("/jobs/", {"tenant": "acme", "type": "CRAWL"}).content.decode()
    assert (
        "tenant=acme&amp;type=CRAWL&amp;state=QUEUED" in page or "type=CRAWL&amp;tenant=acme&amp;state=QUEUED" in page
    )


def test_a_state_of_another_program_is_shown_and_can_be_filtered(viewer: Client) -> None:
    JobFactory(id="odd", status="ARCHIVED", type="", queued_at=at(9999, 12, 31, 23))
    JobFactory(id="old", queued_at=at(1, 1, 1))
    page = viewer.get("/jobs/").content.decode()
    assert "ARCHIVED" in page and ids(page) == ["odd", "old"]
    assert listed(viewer, state="ARCHIVED") == ["odd"]
    with connection.cursor() as cursor:
        cursor.execute("""UPDATE "PlatformJob" SET "queuedAt" = 'infinity' WHERE id = 'odd'""")
    for path in ("/jobs/", "/", "/jobs/odd/", "/jobs/old/", "/dlq/"):
        assert viewer.get(path).status_code == 200
    viewer.cookies["detiq_zone"] = "Pacific/Kiritimati"
    assert viewer.get("/jobs/").status_code == 200


@pytest.mark.parametrize("odd", ["infinity", "-infinity", "294276-12-31", "4713-01-01 BC"])
@pytest.mark.parametrize("column", ["queuedAt", "requeuedAt", "startedAt", "finishedAt", "heartbeatAt", "nextRetryAt"])
def test_a_row_of_no_time_is_a_row_of_the_list_and_has_a_page(viewer: Client, column: str, odd: str) -> None:
    """Infinity is how people put something off for ever."""
    jobs = everything()
    with connection.cursor() as cursor:
        cursor.execute(f'UPDATE "PlatformJob" SET "{column}" = %s', [odd])
    for path in (
        "/",
        "/jobs/",
        "/dlq/",
        "/why/",
        "/tenants/",
        "/workers/",
        "/metrics",
        *[job_url(job.id) for job in jobs],
    ):
        assert viewer.get(path).status_code == 200, path


def test_pages_do_not_slip_while_jobs_arrive(viewer: Client) -> None:
    base = timezone.now()
    for index in range(120):  # several share a moment, as bulk inserts do
        JobFactory(id=f"{index:03}", queued_at=base - timedelta(minutes=index // 7))
    seen: list[str] = []
    url: str | None = "/jobs/?type=CRAWL"
    addresses = []
    while url:
        page = viewer.get(url).content.decode()
        seen += ids(page)
        addresses.append(url)
        JobFactory(id=f"new-{len(seen)}", queued_at=base + timedelta(minutes=1))
        older = re.search(r'rel="next"[^>]*href="([^"]+)"', page)
        url = older[1].replace("&amp;", "&") if older else None
    assert len(seen) == 120 and len(set(seen)) == 120
    assert parse_qs(urlsplit(addresses[-1]).query)["type"] == ["CRAWL"]
    newer = re.search(r'rel="prev"[^>]*href="([^"]+)"', page)
    assert newer
    back = viewer.get(newer[1].replace("&amp;", "&")).content.decode()
    assert ids(back) == seen[50:100]


def test_the_list_reads_no_big_column(viewer: Client) -> None:
    JobFactory(dead=True, error="x" * 1_000_000, result={"r": "y" * 1_000_000}, config={"c": "z" * 1_000_000})
    with CaptureQueriesContext(connection) as queries:
        page = viewer.get("/jobs/?state=DEAD_LETTERED").content
    assert len(page) < 60_000
    sql = " ".join(query["sql"] for query in queries if "cursor_at" in query["sql"])
    assert "config" not in sql and "result" not in sql and "checkpoint" not in sql and "*" not in sql


def test_counts_are_exact_by_the_counters_and_capped_by_counting(
    viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything(tenant_id="acme")
    from django.http import QueryDict

    from jobs.console.filters import JobFilter

    counts = read.count(JobFilter.parse(QueryDict("tenant=acme")))
    assert counts.complete and counts.total == 9 and counts.states["DEAD_LETTERED"] == 1
    monkeypatch.setattr(read, "MOST_COUNTED", 5)
    counts = read.count(JobFilter.parse(QueryDict("text=halden")))
    assert not counts.complete and counts.total == 5
    JobFactory.create_batch(read.PAGE)  # more than the page shows
    assert "≥ 5" in viewer.get("/jobs/?text=halden").content.decode()


def test_a_read_that_takes_too_long_leaves_the_filter_usable(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object, **__: object) -> None:
        raise TooSlow("the database did not answer in 2 s")

    monkeypatch.setattr(read, "page", slow)
    page = viewer.get("/jobs/?tenant=acme").content.decode()
    assert "took too long" in page and 'name="q"' in page and "acme" in page


def test_a_slow_statement_is_stopped() -> None:
    with pytest.raises(TooSlow), limited(0.05), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(5)")
    with limited(), connection.cursor() as cursor:
        cursor.execute("SELECT 1")


@pytest.mark.parametrize(
    "job_id", ["a", "a/b", "..", ".", "a/../b", "/a", "a/", "a//b", "é ü?#%2f&=", " ", "", "<svg>", "new", "日本", "a\\b",
               "-/cancel", "a" * 2000, "9007199254740993", "x\ty", "a;b=c", "%2e%2e"],
)  # fmt: skip
def test_any_text_is_an_id_that_finds_its_job(viewer: Client, job_id: str) -> None:
    JobFactory(id=job_id, name="the one")
    response = viewer.get(job_url(job_id))
    assert response.status_code == 200
    assert "the one" in response.content.decode()
    assert (
        'href="' + job_url(job_id).replace("&", "&amp;").replace("'", "&#x27;") + '"'
        in viewer.get("/jobs/").content.decode()
    )


def test_the_search_field_leads_to_the_job_the_tenant_or_a_filter(viewer: Client) -> None:
    JobFactory(id="a/b c", tenant_id="acme", type="DISCOVER")
    assert viewer.get("/jobs/", {"q": " a/b c "})["Location"] == "/jobs/a/b%20c/"
    assert viewer.get("/jobs/", {"q": "acme", "state": "QUEUED"})["Location"] == "/jobs/?tenant=acme&state=QUEUED"
    assert viewer.get("/jobs/", {"q": "DISCOVER"})["Location"] == "/jobs/?type=DISCOVER"
    assert (
        viewer.get("/jobs/", {"q": 'tenant:"b c" error:502 proxy'})["Location"]
        == "/jobs/?tenant=b+c&error=502&text=proxy"
    )
    assert viewer.get("/jobs/", {"q": "\x00"})["Location"] == "/jobs/"


def test_why_a_queued_job_waits(viewer: Client) -> None:
    JobFactory(id="1", type="CRAWL", tenant_id="acme")
    assert "no live worker" in viewer.get("/jobs/", headers=HTMX).content.decode()
    WorkerFactory(types=["CRAWL"])
    JobFactory(id="2", type="IMPORT_TESTS")
    for _ in range(4):
        JobFactory(running=True, tenant_id="acme")
    from jobs.console.queries.overview import shared

    shared.clear()
    page = viewer.get("/jobs/", headers=HTMX).content.decode()
    assert "acme uses 4 of 4 slots" in page and "no live worker has a handler for IMPORT_TESTS" in page
    PauseFactory(type="CRAWL")
    shared.clear()
    page = viewer.get("/jobs/", headers=HTMX).content.decode()
    assert "CRAWL is paused with no end set" in page and "Held" in page


def test_an_attempt_is_counted_by_its_failure_type() -> None:
    job = {"status": "RUNNING", "dlq": False, "retry_count": 0, "failure_type": None}
    assert words.attempt(job) == "1 of 6"
    assert (
        words.attempt(job | {"status": "FAILED", "dlq": True, "retry_count": 2, "failure_type": "LOGICAL"}) == "2 of 2"
    )
    assert words.attempt(job | {"failure_type": "QUOTA"}) == "1 of ?"
