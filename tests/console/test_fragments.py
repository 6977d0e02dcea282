"""One address, a page or a part; and nothing that is stored is ever markup."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from jobs.console.paging import Cursor
from jobs.models import SystemConfig
from tests.console.addresses import HTMX, PAGES, job_pages
from tests.factories import (
    HOSTILE,
    LONG,
    AuditFactory,
    EventFactory,
    JobFactory,
    LogFactory,
    OperationFactory,
    PauseFactory,
    WorkerFactory,
    everything,
)

pytestmark = pytest.mark.django_db
WHOLE = [page for page in PAGES if not page.startswith("/frame/")]
LIVE = [page for page in WHOLE if page not in {"/enqueue/", "/pauses/effect/"}]


@pytest.mark.parametrize("path", LIVE)
def test_a_script_gets_the_part_and_a_browser_the_page(viewer: Client, path: str) -> None:
    assert "<html" not in viewer.get(path, headers=HTMX).content.decode()
    for more in ({"HX-History-Restore-Request": "true"}, {"HX-Boosted": "true"}):
        assert "<html" in viewer.get(path, headers=HTMX | more).content.decode()
    assert "<html" in viewer.get(path).content.decode()


@pytest.mark.parametrize("path", WHOLE)
def test_a_page_may_be_asked_for_its_head(viewer: Client, path: str) -> None:
    response = viewer.head(path)
    assert (response.status_code, response.content) == (200, b"")


def put_in_every_column(text: str) -> list[str]:
    """Rows with this text wherever a text can stand. Returns the jobs' ids."""
    jobs = [*everything(text), JobFactory(id=text[:100], name=text)]
    for job in jobs:
        LogFactory(job_id=job.id, level=text, message=text)
    WorkerFactory(id=text, host=text, types=[text], version=text)
    PauseFactory(type=text, tenant_id=text, project_id=text, reason=text, owner=text)
    PauseFactory(type=text, reason=text, owner=text, lifted_at="2026-01-01T00:00Z", lifted_by=text, lift_reason=text)
    AuditFactory(actor=text, action=text, target=text, reason=text, numbers={text: text}, address=text)
    OperationFactory(kind=text, actor=text, reason=text, state="DONE")
    EventFactory(id=text[:60], company_id=text, document_id=text, hook_type=text, last_error=text)
    return [job.id for job in jobs]


@pytest.mark.parametrize(
    "text", [HOSTILE, LONG, 'Рога и копыта "Süd" \\ Öl\n\u202e名前 🦊'], ids=["markup", "long", "odd"]
)
def test_no_stored_text_is_markup_anywhere(admin: Client, text: str) -> None:
    ids = put_in_every_column(text)
    SystemConfig.objects.create(key="queue.paused", value="true")
    paths = WHOLE + ["/frame/nav/", "/frame/pauses/", "/jobs/?state=ON_HOLD&tenant=x", "/failures/?span=24h"]
    paths += [page for job_id in ids for page in job_pages(job_id)[1:2]]
    for path in paths:
        for headers in ({}, HTMX):
            response = admin.get(path, headers=headers)
            assert response.status_code == 200, path
            body = response.content.decode()
            assert "<svg/onload" not in body, path
            assert "{{7*7}}" not in body or text == HOSTILE
            assert not re.search(r"<a[^>]*href=\"javascript:", body)


HOSTILE_VALUES = [
    '"><script>window.pwn=1</script>', "javascript:alert(1)", "\r\nSet-Cookie:x=1", "\x00", "a\x00b", "x" * 5000, "-1",
    "999999999999999999999", "%", "'", "NaN", "\ud7ff", "WyJub3ctaXNoIiwiYSJd", "eyJhIjoxfQ", "W1tbW1tb", "../../etc",
]  # fmt: skip
PARAMETERS = ["state", "type", "tenant", "project", "failure", "worker", "error", "text", "group", "age", "after", "before",
              "q", "submitted", "priority", "config", "from", "to", "span", "name", "actor", "action", "id", "page", "next", "have"]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE_VALUES, ids=lambda value: repr(value[:20]))
def test_no_parameter_breaks_a_page_or_comes_back_as_markup(admin: Client, value: str) -> None:
    JobFactory()
    for path in [*WHOLE, "/job/", "/raw/config/", "/dialogs/cancel/", "/pauses/lift/"]:
        rest = dict.fromkeys(PARAMETERS, value)
        # The list of jobs looks at nothing else where there is a `q`.
        for parameters in [rest, {"q": rest.pop("q")}] if path == "/jobs/" else [rest]:
            response = admin.get(path, parameters)
            assert response.status_code in {200, 302, 400, 404, 409}, path
            assert "<script>window.pwn" not in response.content.decode()
            assert "Set-Cookie:x" not in str(response.headers)


@pytest.mark.parametrize("cursor", ["WyIyMDI2LTk5LTk5IDAwOjAwOjAwKzAwIiwgImEiXQ", "WyJpbmZpbml0eSIsICJhIl0"])
def test_a_cursor_that_names_no_moment_is_refused_kindly(viewer: Client, cursor: str) -> None:
    assert viewer.get("/jobs/", {"after": cursor}).status_code in {200, 400}


NOTHING_BEFORE, NOTHING_AFTER = (
    Cursor("2100-01-01 00:00:00+00", "z").encode(),
    Cursor("2000-01-01 00:00:00+00", "a").encode(),
)
LISTS = ["/jobs/?", "/jobs/?state=QUEUED&", "/audit/?", "/audit/?action=x&", "/ledger/?", "/alerts/?show=over&", "/dlq/trash/?",
         "/alerts/messages/?", "/notifications/?", "/failures/runs/?", "/ledger/document/?company=a&document=b&"]  # fmt: skip


@pytest.mark.parametrize(
    "path", [*(f"{one}after={NOTHING_AFTER}" for one in LISTS), *(f"{one}before={NOTHING_BEFORE}" for one in LISTS),
             "/operations/?before=1", "/artifacts/?before=zz", "/artifacts/?after=0"],
)  # fmt: skip
def test_a_page_where_nothing_stands_any_more_does_not_say_that_there_is_nothing_at_all(
    viewer: Client, path: str
) -> None:
    """Its rows were purged, retried or folded since: the rest of the list is one click away."""
    JobFactory()
    body = viewer.get(path, headers=HTMX).content.decode()
    assert "Nothing is left on this page" in body
    assert not re.search(r"(after|before)=", re.findall(r'href="([^"]*)">First page', body)[0])


@pytest.mark.parametrize("path", [*WHOLE, "job"])
def test_the_number_of_queries_does_not_grow_with_the_rows(viewer: Client, path: str) -> None:
    from jobs.console.queries.overview import forget

    def count() -> int:
        forget()
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert viewer.get(path if path != "job" else "/jobs/a/").status_code == 200
        return len(queries)

    JobFactory(id="a", done=True)
    everything()
    put_in_every_column("first")
    few = count()
    for index in range(8):
        put_in_every_column(f"more-{index}")
        LogFactory(job_id="a")
    assert count() <= few
