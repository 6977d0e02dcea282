"""The whole way of a bulk action in a real browser, with a real worker: filter, preview, run, done, undo."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from jobs.models import AuditEntry, Job, Operation
from tests.console.test_browser import Connect
from tests.console.test_browser import page as page  # the console must stay without errors here, too
from tests.factories import JobFactory
from tests.operations.bulk_helpers import dead
from tests.processes import WorkerProcesses

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_purge_from_the_filter_to_its_undo(
    page: Page, live_site: str, sign_in: Callable[..., Any], make_conn: Connect, worker_process: WorkerProcesses
) -> None:
    sign_in("admin")
    worker_process()
    dead(make_conn(), 120, tenants=3)
    JobFactory(done=True, tenant_id="t0")
    page.goto(f"{live_site}/jobs/?state=DEAD_LETTERED&tenant=t0")
    page.get_by_role("button", name="Act on all…").click()
    page.get_by_role("link", name="Purge…").first.click()
    expect(page.get_by_role("heading", name="Purge 40 jobs")).to_be_visible()
    page.get_by_label("Reason").fill("test data of last week")
    page.get_by_role("button", name="Purge 40 jobs").dblclick()
    expect(page.get_by_text("All 40 decided.")).to_be_visible(timeout=10_000)
    assert Operation.objects.count() == 1 and AuditEntry.objects.filter(action="bulk_purge").count() == 1
    assert Job.objects.count() == 81
    page.go_back()
    expect(page.get_by_role("button", name=re.compile("^Purge"))).to_be_disabled()  # none is left, the page says so
    page.go_forward()
    page.get_by_role("link", name="Undo the purge…").click()
    expect(page.get_by_role("heading", name="Restore 40 jobs")).to_be_visible()
    page.get_by_label("Reason").fill("it was this week's")
    page.get_by_role("button", name="Restore 40 jobs").click()
    expect(page.get_by_text("All 40 decided.")).to_be_visible(timeout=10_000)
    assert Job.objects.filter(tenant_id="t0", dlq=True).count() == 40


def test_a_redrive_of_a_group_is_watched_paused_and_stopped(
    page: Page, live_site: str, sign_in: Callable[..., Any], make_conn: Connect, worker_process: WorkerProcesses
) -> None:
    sign_in("operator")
    worker_process()
    conn = make_conn()
    dead(conn, 200, tenants=5, fingerprint="v1:boom")
    conn.execute("""UPDATE "PlatformJob" SET type = 'NOBODY_DOES_IT'""")  # or they would fail again and brake it
    page.goto(f"{live_site}/dlq/")
    page.get_by_role("link", name="Redrive…").first.click()
    expect(page.get_by_role("heading", name="Redrive 200 jobs")).to_be_visible()
    page.get_by_label("Jobs a minute").fill("300")
    page.get_by_label("Reason").fill("proxy rolled back")
    page.get_by_role("button", name="Redrive 200 jobs").click()
    expect(page.get_by_text(re.compile(r"[1-9]\d* of 200 decided"))).to_be_visible(timeout=10_000)
    page.get_by_role("link", name="Pause…").click()
    page.locator("#dialog").get_by_label("Reason").fill("look first")
    page.get_by_role("button", name="Pause the operation").click()
    expect(page.locator(".title-line .tag", has_text="Paused")).to_be_visible(timeout=5_000)
    time.sleep(1)
    done = Operation.objects.get().done
    time.sleep(1)
    assert Operation.objects.get().done == done < 200
    page.get_by_role("link", name="Resume…").click()
    page.locator("#dialog").get_by_label("Reason").fill("looks good")
    page.get_by_role("button", name="Resume the operation").click()
    expect(page.locator(".title-line .tag", has_text="Running")).to_be_visible(timeout=5_000)
    page.get_by_role("link", name="Stop for good…").click()
    page.locator("#dialog").get_by_label("Reason").fill("enough")
    page.get_by_role("button", name="Stop the operation").click()
    expect(page.get_by_text("Stopped for good with")).to_be_visible(timeout=5_000)


def test_ticked_rows_lead_to_a_preview_of_exactly_those(
    page: Page, live_site: str, sign_in: Callable[..., Any]
) -> None:
    sign_in("operator")
    JobFactory(id="a", name="first")
    JobFactory(id="b,c", name="second")
    JobFactory(name="third")
    page.goto(f"{live_site}/jobs/?type=CRAWL")
    page.get_by_role("checkbox", name="Select first").check()
    page.get_by_role("checkbox", name="Select second").check()
    bar = page.get_by_role("region", name="Selection")
    expect(bar.get_by_role("link", name="Redrive from the DLQ…")).to_have_attribute("aria-disabled", "true")
    bar.get_by_role("link", name=re.compile("^Cancel… 2")).click()
    expect(page.get_by_role("heading", name="Cancel 2 jobs")).to_be_visible()
