"""Failures: counted by type, failure type, tenant and cause; every number leads to exactly its rows."""

import html
import random
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.console.permissions import TABLE
from jobs.console.queries import overview
from jobs.models import AuditEntry, FailureCause, FailureGroup, FailureTenant
from jobs.queue.sweep import Sweep
from tests.console.addresses import GROUP_PAGES, HTMX
from tests.console.conftest import ROLES
from tests.factories import HOSTILE, LONG, JobFactory, WorkerFactory

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def fold() -> None:
    Sweep(connection, HOUR, HOUR, 0.1, random.Random(1)).light()
    overview.forget()


def fail(n: int = 1, to: str = "RETRY_WAIT", dlq: bool = False, **columns: Any) -> None:
    """Jobs that run and fail, as any program writes it."""
    kind, print_ = columns.pop("failure_type", "TRANSIENT"), columns.pop("fingerprint", "v1:a")
    error = columns.pop("error", "HTTP 502 from proxy")
    jobs = [JobFactory(running=True, **columns) for _ in range(n)]
    with connection.cursor() as cursor:
        cursor.execute(
            """UPDATE "PlatformJob" SET status = %s, dlq = %s, "failureType" = %s, fingerprint = %s, error = %s
                WHERE id = ANY (%s)""",
            [to, dlq, kind, print_, error, [job.id for job in jobs]],
        )


@pytest.fixture
def failed() -> None:
    fail(3, tenant_id="acme")
    fail(2, tenant_id="globex", type="DISCOVER", failure_type="LOGICAL", fingerprint="v1:b", error="no sitemap")
    fail(1, "FAILED", dlq=True, tenant_id="acme", failure_type="FATAL", fingerprint="v1:c", error="missing secret")
    fail(1, tenant_id="acme", failure_type=None, fingerprint=None, error="exit 7")
    fold()


def links(page: str) -> list[tuple[int, str]]:
    """Every number that is a link to failed runs."""
    found = re.findall(r'<a class="link" href="(/failures/runs/[^"]*)">([\d,]+)</a>', page)
    return [(int(n.replace(",", "")), html.unescape(url)) for url, n in found]


@pytest.mark.parametrize("span", ["1h", "24h", "7d", "30d"])
def test_every_number_leads_to_exactly_its_rows(viewer: Client, failed: None, span: str) -> None:
    page = viewer.get(f"/failures/?span={span}").content.decode()
    found = links(page)
    assert len(found) > 15 and sum(n for n, _ in found) > 20
    for n, url in found:
        rows = viewer.get(url).content.decode()
        assert len(re.findall(r'<tr id="run-', rows)) == n, url
        assert f"{n} failed run" in rows


def test_what_is_not_folded_yet_is_counted_too(viewer: Client) -> None:
    fail(4, error="only just")
    page = viewer.get("/failures/?span=1h").content.decode()
    assert "4 failed runs in 1 h" in page and "only just" in page and "New" in page
    assert viewer.get("/failures/group/?id=v1:a").status_code == 200
    fold()
    again = viewer.get("/failures/?span=1h").content.decode()
    assert "4 failed runs in 1 h" in again


def test_a_filter_stays_in_force_and_in_the_address(viewer: Client, failed: None) -> None:
    page = viewer.get("/failures/?span=1h&tenant=acme&type=CRAWL").content.decode()
    assert "5 failed runs in 1 h" in page and "no sitemap" not in page and "globex" not in page
    for url in re.findall(r'<a class="tab" href="([^"]*)"', page):
        assert "tenant=acme" in url and "type=CRAWL" in url
    narrowed = viewer.get("/failures/?failure=LOGICAL").content.decode()
    assert "2 failed runs" in narrowed and "missing secret" not in narrowed
    unclassified = viewer.get("/failures/?failure=-").content.decode()
    assert "1 failed run in" in unclassified and "exit 7" in unclassified
    assert "Left out" in viewer.get("/failures/?span=99y").content.decode()


def test_the_tabs_of_the_states(viewer: Client, failed: None) -> None:
    FailureGroup.objects.filter(fingerprint="v1:a").update(state="IGNORED")
    FailureGroup.objects.filter(fingerprint="v1:b").update(state="REGRESSED")
    page = viewer.get("/failures/?state=open").content.decode()
    assert "no sitemap" in page and "HTTP 502" not in page
    assert "HTTP 502" in viewer.get("/failures/?state=IGNORED").content.decode()
    overview.forget()
    assert "3 open" in viewer.get("/").content.decode()


def test_the_runs_are_paged_by_key(viewer: Client) -> None:
    fail(120)
    seen: set[str] = set()
    url = "/failures/runs/?span=1h"
    for expected in (50, 50, 20):
        page = viewer.get(url).content.decode()
        ids = set(re.findall(r'<tr id="run-(\d+)', page))
        assert len(ids) == expected and not ids & seen
        seen |= ids
        older = re.search(r'rel="next"[^>]*href="([^"]*)"', page)
        url = html.unescape(older[1]) if older else ""
    assert len(seen) == 120 and not url


# --- One group ---------------------------------------------------------------------------------------------------------
def test_a_group_shows_its_course_its_tenants_and_its_runs(viewer: Client, failed: None) -> None:
    page = viewer.get("/failures/group/?id=v1:a").content.decode()
    for text in ("HTTP 502 from proxy", "acme", "New", "First seen", "Last 30 days: 3 failed runs"):
        assert text in page, text
    assert viewer.get("/failures/group/?id=v1:nowhere").status_code == 404
    assert viewer.get("/failures/group/").status_code == 404
    assert viewer.get("/failures/group/?id=%00").status_code == 404


def test_a_state_is_changed_with_a_reason(operator: Client, failed: None) -> None:
    form = {
        "id": "v1:a",
        "seen": "NEW",
        "state": "FIX_DEPLOYED",
        "owner": "dana",
        "note": HOSTILE,
        "reason": "rolled back",
    }
    assert operator.post("/actions/group/", form | {"reason": ""}, headers=HTMX).status_code == 422
    assert operator.post("/actions/group/", form | {"state": "REGRESSED"}, headers=HTMX).status_code == 422
    assert not AuditEntry.objects.exists()
    response = operator.post("/actions/group/", form, headers=HTMX)
    assert response.status_code == 200 and "Fix deployed" in response["HX-Trigger"]
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.reason, entry.after["owner"]) == ("change_group", "rolled back", "dana")
    page = operator.get("/failures/group/?id=v1:a").content.decode()
    assert "rolled back" in page and "<svg/onload" not in page
    late = operator.post("/actions/group/", form | {"state": "KNOWN"}, headers=HTMX)
    assert late.status_code == 409 and "Fix deployed by now" in late.content.decode()


@pytest.mark.parametrize("name", [*ROLES, ""])
def test_every_role_reads_and_some_change_a_group(as_role: Callable[..., Client], failed: None, name: str) -> None:
    client = as_role(name)
    for path in GROUP_PAGES:
        for headers in ({}, HTMX):
            assert client.get(path.format("v1:a"), headers=headers).status_code == (200 if name else 403)
    if name:
        page = client.get("/failures/group/?id=v1:a").content.decode()
        assert ("disabled" in page.split("</header>")[0]) == (name not in TABLE["change_group"])


@pytest.mark.parametrize("text", [HOSTILE, LONG, 'Рога "Süd" \\ Öl\n\u202e名前 🦊&?#/%'], ids=["markup", "long", "odd"])
def test_no_stored_text_is_markup(admin: Client, text: str) -> None:
    WorkerFactory(id=text, version=text, types=[text])
    fail(2, tenant_id=text, type=text, fingerprint=text, failure_type=text, error=text)
    fold()
    FailureGroup.objects.update(owner=text[:200], note=text)
    group = FailureGroup.objects.get()
    pages = ["/", "/failures/", "/tenants/", "/workers/", "/failures/runs/?span=1h"]
    pages += [path.format(quote(group.fingerprint, safe="")) for path in GROUP_PAGES]
    for path in pages:
        for headers in ({}, HTMX):
            response = admin.get(path, headers=headers)
            assert response.status_code == 200, path
            assert "<svg/onload" not in response.content.decode(), path
    for n, url in links(admin.get("/failures/?span=1h").content.decode()):
        assert len(re.findall(r'<tr id="run-', admin.get(url).content.decode())) == n, url


# --- Cost --------------------------------------------------------------------------------------------------------------
def test_no_page_scans_the_jobs_or_the_history(viewer: Client) -> None:
    WorkerFactory()
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO "PlatformJob" (id, "tenantId", type, config, status, "queuedAt", "finishedAt")
               SELECT 'd' || n, 't' || n %% 300, 'CRAWL', '{}', 'DONE', now() - interval '1 s' * n, now()
                 FROM generate_series(1, 20000) n""",
            [],
        )
    fail(30)
    fold()
    with connection.cursor() as cursor:
        for table in ('"PlatformJob"', "job_history", "failure_cause", "failure_tenant", "tally_flow"):
            cursor.execute(f"ANALYZE {table}")
    for path in ("/", "/failures/?span=1h", "/failures/?span=30d", "/failures/runs/?span=24h&group=v1:a",
                 "/failures/runs/?span=24h&tenant=halden-bank", "/failures/group/?id=v1:a", "/tenants/", "/workers/"):  # fmt: skip
        overview.forget()
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert viewer.get(path).status_code == 200
        for query in queries.captured_queries:
            if query["sql"].lstrip().startswith(("SELECT", "WITH")) and "set_config" not in query["sql"]:
                with connection.cursor() as cursor:
                    cursor.execute("EXPLAIN " + query["sql"].replace("%", "%%"), [])
                    plan = "\n".join(row[0] for row in cursor.fetchall())
                assert not re.search(r'Seq Scan on "?(PlatformJob|job_history)', plan), (
                    f"{path}: {query['sql'][:300]}\n{plan}"
                )


# --- Now against usual -------------------------------------------------------------------------------------------------
def usual(n: int, hours: int = 100) -> None:
    """So many failures in each of the last hours, before this one."""
    this = timezone.now().replace(minute=0, second=0, microsecond=0)
    for back in range(1, hours + 1):
        common = {
            "grain": "h",
            "at": this - timedelta(hours=back),
            "type": "CRAWL",
            "failure_type": "TRANSIENT",
            "n": n,
            "dead": 0,
        }
        FailureCause.objects.create(fingerprint="v1:a", **common)
        FailureTenant.objects.create(tenant_id="acme", **common)


def test_now_is_set_against_usual(viewer: Client) -> None:
    fail(12)
    fold()
    found = overview.read_detail().failing
    assert [kind.usual for kind in found.kinds] == [None], "nothing is usual on the first day"
    usual(2)
    FailureGroup.objects.update(first_at=timezone.now() - timedelta(days=5), state="KNOWN")
    overview.forget()
    found = overview.read_detail().failing
    assert found.kinds[0].n == 12 and found.kinds[0].usual == pytest.approx(2, rel=0.1)
    assert found.groups[0].unusual and found.groups[0].usual == pytest.approx(2, rel=0.3)
    page = viewer.get("/").content.decode()
    assert "More than usual" in page and "× the usual 2" in page
    assert overview.read_detail().failing.heat[0].hours[-2:] == [2, 12]
