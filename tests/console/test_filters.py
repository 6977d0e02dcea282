"""What the jobs list finds: each part of a filter against known rows, together, from the address alone, without a scan."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from jobs.console import filters
from jobs.console.filters import JobFilter, where
from jobs.console.paging import Cursor
from jobs.console.queries import jobs as read
from jobs.console.queries import lists
from jobs.console.queries.db import TooSlow
from jobs.console.views.jobs import about_text
from jobs.models import Job
from tests.console.addresses import HTMX
from tests.console.test_jobs_list import listed
from tests.factories import HOSTILE, JobFactory, everything

pytestmark = pytest.mark.django_db


def parsed(query: str) -> JobFilter:
    return JobFilter.parse(QueryDict(query))


def found(query: str) -> set[str]:
    return {row["id"] for row in read.page(parsed(query), None, None).rows}


@pytest.fixture
def rows() -> None:
    now = timezone.now()
    JobFactory(
        id="low", priority=-5, submitted_by="svc-portal", config={"url": "https://a.example/", "auth": {"kind": "form"}}
    )
    JobFactory(id="high", priority=9, submitted_by="dana", config={"auth": {"kind": "token"}, "n": 0.10, "a.b": 1})
    JobFactory(id="old", queued_at=datetime(2026, 1, 2, 3, 4, tzinfo=UTC), config={"list": [{"x": "y"}]}, priority=0)
    JobFactory(id="run", running=True, worker_id="w:1:a", priority=0)
    JobFactory(id="left", done=True, worker_id="w:1:a", priority=0, queued_at=now - timedelta(days=2))
    JobFactory(
        id="odd", failure_type="FATAL", fingerprint="v1:q", error="QUOTA of 100% at it_all " + "x" * 600 + "far end"
    )
    JobFactory(id="dead", dead=True)


CASES = {
    "priority=9": {"high"},
    "priority=>0": {"high"},
    "priority=<0": {"low"},
    "priority=-5": {"low"},
    "priority=<=-5": {"low"},
    "submitted=dana": {"high"},
    "config=auth.kind=form": {"low"},
    "config=auth": {"low", "high"},
    "config=n=0.1": {"high"},
    "config=list.0.x=y": {"old"},
    "config=nowhere.at.all": set(),
    "to=2026-02-01": {"old"},
    "from=2026-01-02T03:04:00%2B00:00&to=2026-01-02T03:04Z": {"old"},
    "from=2026-01-02T03:05Z&to=2026-01-03": set(),
    "worker=w:1:a": {"run"},
    "failure=FATAL": {"odd"},
    "failure=LOGICAL": {"dead"},
    "group=v1:q": {"odd"},
    "error=100%25 at it_all": {"odd"},
    "error=quota": {"odd"},
    "error=0%25": {"odd"},
    "error=far end": set(),  # after what the index keeps
    "id=low&id=old&id=nowhere": {"low", "old"},
    "id=low&priority=9": set(),
    "state=RUNNING,DEAD_LETTERED,DONE": {"run", "dead", "left"},
    "state=RUNNING,DEAD_LETTERED&failure=LOGICAL": {"dead"},
}


@pytest.mark.parametrize("query", CASES)
def test_each_part_finds_its_rows(rows: None, query: str) -> None:
    assert found(query.replace("+", "%2B")) == CASES[query]
    assert parsed(query).ignored == ()


def test_words_of_another_programs_making_are_found() -> None:
    JobFactory(id="a", failure_type="QUOTA", status="ON_HOLD")
    JobFactory(id="b", running=True)
    assert found("failure=QUOTA") == found("state=ON_HOLD") == {"a"}
    assert found("state=ON_HOLD,RUNNING") == {"a", "b"}


def test_the_count_is_of_the_same_rows(rows: None) -> None:
    for query, expected in CASES.items():
        filter_ = parsed(query)
        counts = read.count(filter_)
        assert counts.complete and counts.of(filter_.states) == len(expected), query


@pytest.mark.parametrize(
    ("name", "value"),
    [("priority", "high"), ("priority", "99999999999999"), ("from", "yesterday"), ("to", "2026-13-01"), ("config", "=x"),
     ("config", "a..b"), ("text", "\x00")],
)  # fmt: skip
def test_what_cannot_be_read_is_named_and_left_out(viewer: Client, name: str, value: str) -> None:
    JobFactory()
    response = viewer.get("/jobs/", {name: value})
    assert response.status_code == 200
    assert f"could not be used:</b> {name}" in response.content.decode()


@pytest.mark.parametrize("text", ["0001-01-01", "9999-12-31T23:59:59+14:00", "0001-01-01T00:00:00+14:00", "9999-12-31"])
def test_the_ends_of_time_are_times(viewer: Client, text: str) -> None:
    JobFactory()
    for name in ("from", "to"):
        assert viewer.get("/jobs/", {name: text}).status_code == 200


def test_a_time_without_an_offset_is_the_viewers(viewer: Client) -> None:
    JobFactory(id="a", queued_at=datetime(2026, 7, 1, 12, 30, tzinfo=UTC))
    viewer.cookies["detiq_zone"] = "Europe%2FBerlin"
    assert listed(viewer, **{"from": "2026-07-01T14:00", "to": "2026-07-01T15:00"}) == ["a"]
    assert listed(viewer, **{"from": "2026-07-01T12:00", "to": "2026-07-01T13:00"}) == []


def test_the_address_is_the_filter_whatever_is_in_it() -> None:
    texts = {
        "type": HOSTILE,
        "tenant": "a&b=c",
        "error": "100%",
        "config": "a.b==x&y",
        "priority": ">=3",
        "from": "2026-01-01",
    }
    filter_ = JobFilter(("QUEUED", "ON HOLD"), texts, "24h", (), ("a,b", "c d", "é"))
    assert parsed(filter_.query()) == filter_
    assert {chip.label for chip in filter_.chips()} >= {
        "type",
        "error has",
        "config has",
        "priority",
        "queued from",
        "id",
    }
    for chip in filter_.chips():
        assert parsed(chip.url.partition("?")[2]) != filter_


def test_a_states_tab_keeps_the_rest_of_the_filter(viewer: Client, rows: None) -> None:
    page = viewer.get("/jobs/?submitted=dana&config=auth.kind%3Dtoken&priority=%3E0").content.decode()
    strip = page.split('class="state-strip"')[1].split("</nav>")[0]
    assert strip.count("submitted=dana") == strip.count("config=auth.kind%3Dtoken") == strip.count("<a href=")


def test_what_is_typed_becomes_the_filter(viewer: Client) -> None:
    typed = 'config.auth.kind:form submitted:"svc portal" priority:>0 from:2026-01-01 config:url id:x rest of it'
    address = viewer.get("/jobs/", {"q": typed})["Location"]
    filter_ = parsed(address.partition("?")[2])
    assert filter_.texts == {
        "config": "url", "submitted": "svc portal", "priority": ">0", "from": "2026-01-01", "text": "rest of it",
    }  # fmt: skip
    assert filter_.ids == ("x",)


def test_a_forms_empty_fields_do_not_stay_in_the_address(viewer: Client) -> None:
    assert viewer.get("/jobs/?type=CRAWL&tenant=&error=&age=")["Location"] == "/jobs/?type=CRAWL"


def test_pages_of_several_states_do_not_slip() -> None:
    base = timezone.now()
    for index in range(40):
        traits = [{}, {"running": True}, {"dead": True}, {"done": True}][index % 4]
        JobFactory(id=f"{index:02}", queued_at=base - timedelta(minutes=index // 3), **traits)
    filter_ = parsed("state=QUEUED,RUNNING,DEAD_LETTERED")
    seen: list[str] = []
    after: Cursor | None = None
    while True:
        page = read.page(filter_, after, None, size=7)
        seen += [row["id"] for row in page.rows]
        if page.older is None:
            break
        before, after = after, page.older
    expected = list(Job.objects.exclude(status="DONE").order_by("-queued_at", "-id").values_list("id", flat=True))
    assert seen == expected
    back = read.page(filter_, None, page.newer, size=7)
    assert [row["id"] for row in back.rows] == seen[21:28]
    assert before is not None


def test_text_pages_the_same_however_often_it_occurs(monkeypatch: pytest.MonkeyPatch) -> None:
    base = timezone.now()
    for index in range(20):
        JobFactory(id=f"{index:02}", dead=True, error="needle in hay", queued_at=base - timedelta(minutes=index // 3))
    JobFactory(dead=True, error="hay")
    needles = parsed("error=needle")

    def pages() -> list[list[str]]:
        first = read.page(needles, None, None, size=8)
        second = read.page(needles, first.older, None, size=8)
        assert read.page(needles, None, second.newer, size=8).rows == first.rows
        return [[row["id"] for row in page.rows] for page in (first, second)]

    near = read.page(needles, None, None, size=8)
    assert near.dense
    assert read.count(needles, near).states == {"DEAD_LETTERED": 20}
    frequent = pages()
    monkeypatch.setattr(read, "NEAREST", 5)  # not one page among the nearest: the index on text finds them
    assert not read.page(needles, None, None, size=8).dense
    assert pages() == frequent
    monkeypatch.setattr(read, "MOST_PICKED", 5)  # too many to be put in order: the list is walked
    assert pages() == frequent


def test_without_the_index_text_is_searched_in_the_last_day_and_the_page_says_so(viewer: Client) -> None:
    JobFactory(id="new", dead=True, error="needle")
    JobFactory(id="old", dead=True, error="needle", queued_at=timezone.now() - timedelta(days=3))
    assert set(listed(viewer, error="needle")) == {"new", "old"}
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX job_error_text")
    page = viewer.get("/jobs/?error=needle", headers=HTMX).content.decode()
    assert "in the last 24 h only" in page and 'data-id="new"' in page and 'data-id="old"' not in page
    assert "in the last 24 h only" not in viewer.get("/jobs/?error=needle&age=1h", headers=HTMX).content.decode()


def test_a_role_that_may_not_add_the_extension_gets_everything_else() -> None:
    from jobs.queue import adoption
    from jobs.queue.adoption.steps import text_search

    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION pg_trgm CASCADE")
        cursor.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        cursor.execute("SELECT current_user")
        cursor.execute("CREATE SCHEMA elsewhere")
        cursor.execute("CREATE EXTENSION pg_trgm SCHEMA elsewhere")
    assert text_search(connection) == "elsewhere.gin_trgm_ops"
    adoption.adopt_indexes(connection)
    assert read.text_is_indexed()


# --- how sure a number is ---------------------------------------------------------------------------------------------
def test_a_number_says_how_sure_it_is(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(read.PAGE + 1):
        JobFactory(submitted_by="dana")
    exact = viewer.get("/jobs/?submitted=dana", headers=HTMX).content.decode()
    assert "<b>51 jobs</b>" in exact and ">exact<" in exact and "as of" in exact
    monkeypatch.setattr(read, "MOST_COUNTED", 4)
    monkeypatch.setattr(read, "_about", lambda filter_: 1_234_567)
    capped = viewer.get("/jobs/?submitted=dana", headers=HTMX).content.decode()
    assert "≥ 4 jobs" in capped and "counting stopped at 4 rows, ≈ 1.2 M by the statistics" in capped

    def slow(*asked: object) -> None:
        raise TooSlow("the database did not answer in 1 s")

    monkeypatch.setattr(read, "_count_rows", slow)
    unknown = viewer.get("/jobs/?submitted=dana", headers=HTMX).content.decode()
    assert "≈ 1.2 M jobs" in unknown and "counting took too long" in unknown
    assert unknown.count("data-id=") == 50  # the rows are there all the same


@pytest.mark.parametrize(
    ("number", "text"), [(7, "≈ 7"), (1_500, "≈ 1.5 k"), (250_000, "≈ 250 k"), (1_900_000, "≈ 1.9 M")]
)
def test_an_estimate_has_no_more_digits_than_it_deserves(number: int, text: str) -> None:
    assert about_text(number) == text


@pytest.mark.django_db(transaction=True)
def test_a_list_and_its_count_see_the_same_rows(viewer: Client, monkeypatch: pytest.MonkeyPatch, make_conn) -> None:
    JobFactory(id="first")
    other = make_conn()
    real = read.page

    def page_then_another(*args, **kwargs):
        found = real(*args, **kwargs)
        other.execute(
            """INSERT INTO "PlatformJob" (id, "tenantId", type, config) VALUES ('later', 't', 'CRAWL', '{}')"""
        )
        return found

    monkeypatch.setattr(read, "page", page_then_another)
    page = viewer.get("/jobs/", headers=HTMX).content.decode()
    assert "<b>1 job</b>" in page and 'data-id="later"' not in page


def test_a_read_that_takes_too_long_offers_a_narrower_one(viewer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object, **__: object) -> None:
        raise TooSlow("the database did not answer in 2 s")

    monkeypatch.setattr(read, "page", slow)
    page = viewer.get("/jobs/?text=needle&tenant=acme").content.decode()
    assert "took too long" in page and "/jobs/?tenant=acme&amp;text=needle&amp;age=24h" in page
    assert "Only the last 24 h" not in viewer.get("/jobs/?text=needle&age=1h").content.decode()


def test_an_empty_list_says_which_part_leaves_none(viewer: Client, rows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "SOME_SECONDS", 10.0)
    page = viewer.get("/jobs/?submitted=dana&priority=%3E0&state=DONE", headers=HTMX).content.decode()
    said = page.split("No job matches.")[1]
    assert ">Without state</a> 1 match" in said and "/jobs/?priority=%3E0&amp;submitted=dana" in said
    assert "Without submitted by" not in said and "Without priority" not in said  # neither would help
    assert "Without" not in viewer.get("/jobs/?submitted=nobody", headers=HTMX).content.decode()


# --- no plan scans the table ------------------------------------------------------------------------------------------
QUERIES = ["", "tenant=t1", "type=CRAWL", "state=RUNNING", "state=QUEUED,RETRY_WAIT", "state=DEAD_LETTERED", "group=v1:7",
           "failure=FATAL", "worker=w:1:a", "error=needle", "error=502", "id=j7&id=j8", "tenant=t1&state=FAILED&age=24h", "age=1h",
           "tenant=t1&project=p1", "from=2026-11-01", "text=site", "priority=>3", "submitted=x", "config=a=1"]  # fmt: skip


@pytest.fixture
def many() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO "PlatformJob" (id, "tenantId", "projectId", type, config, status, "queuedAt", "finishedAt", error,
                                          fingerprint, "failureType", dlq)
               SELECT 'j' || n, 't' || n % 50, 'p' || n % 7, 'CRAWL', '{}',
                      CASE WHEN n % 20 = 0 THEN 'FAILED' WHEN n % 97 = 0 THEN 'QUEUED' ELSE 'DONE' END,
                      now() - n * interval '1 min', now(),
                      CASE WHEN n % 20 = 0 THEN 'HTTP 502 number ' || n END, CASE WHEN n % 20 = 0 THEN 'v1:' || n % 30 END,
                      CASE WHEN n % 20 = 0 THEN 'TRANSIENT' END, n % 20 = 0
                 FROM generate_series(1, 20000) n"""
        )
        cursor.execute('ANALYZE "PlatformJob"')


@contextmanager
def explained() -> Iterator[list[tuple[str, object]]]:
    """The statements on jobs, each with its plan under the settings that it carries."""
    found: list[tuple[str, object]] = []

    def explain(execute: Any, sql: str, params: Any, of_many: bool, context: dict[str, Any]) -> Any:
        if '"PlatformJob"' in sql and not sql.startswith("EXPLAIN"):
            execute("EXPLAIN (FORMAT JSON) " + sql, params, of_many, context)
            found.append((sql, context["cursor"].fetchone()[0]))
        return execute(sql, params, of_many, context)

    with connection.execute_wrapper(explain):
        yield found


def test_no_list_scans_the_table(many: None) -> None:
    with explained() as found:
        for query in QUERIES:
            filter_ = parsed(query)
            page = read.page(filter_, None, None)
            if page.older:
                read.page(filter_, page.older, None)
            read.count(filter_, page)
            read.lanes(filter_, by_project=True)
            lists.dead_groups()
    assert [sql for sql, plan in found if scans(plan)] == []
    assert len(found) > 2 * len(QUERIES)


@pytest.mark.parametrize(
    ("query", "index"),
    [("tenant=often", "job_list_of_tenant"), ("type=OFTEN", "job_list_of_type"), ("state=CANCELLED", "job_list_of_state"),
     ("project=p1", "job_list_of_all"), ("", "job_list_of_all")],
)  # fmt: skip
def test_who_has_an_index_is_never_sought_among_all_jobs(many: None, query: str, index: str) -> None:
    """A tenth of all jobs, and all of them old: the newest of everybody would be walked past."""
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO "PlatformJob" (id, "tenantId", type, config, status, "queuedAt")
               SELECT 'o' || n, 'often', 'OFTEN', '{}', 'CANCELLED', now() - interval '1 year' FROM generate_series(1, 2500) n"""
        )
        cursor.execute('ANALYZE "PlatformJob"')
    with explained() as found:
        read.page(parsed(query), None, None)
    assert [plan for _, plan in found if f"'Index Name': '{index}'" in str(plan)], found


def scans(plan: object) -> bool:
    """Does any node read the jobs table from end to end?"""
    if isinstance(plan, dict):
        if plan.get("Node Type") == "Seq Scan" and plan.get("Relation Name") == "PlatformJob":
            return True
        return any(scans(part) for part in plan.values())
    return isinstance(plan, list) and any(scans(part) for part in plan)


def test_every_column_of_a_filter_is_a_parameter_never_text() -> None:
    texts = {
        name: "1" if name == "priority" else "2026-01-01" if name in {"from", "to"} else HOSTILE
        for name in filters.TEXTS
    }
    texts["config"] = f"{HOSTILE.replace('=', '')}.b={HOSTILE}"
    filter_ = JobFilter((HOSTILE, "QUEUED"), texts, "24h", (), (HOSTILE,))
    clause, params = where(filter_)
    assert HOSTILE not in clause and "onload" not in clause
    assert read.page(filter_, None, None).rows == []
    assert read.count(filter_).total == 0
    assert params


def test_hostile_rows_are_found_by_their_own_text(viewer: Client) -> None:
    everything(HOSTILE)
    for name in ("type", "tenant", "project", "failure", "group", "submitted", "error", "text"):
        page = viewer.get("/jobs/", {name: HOSTILE}, headers=HTMX).content.decode()
        assert page.count("data-id=") >= 1, name
        assert "<svg/onload" not in page
