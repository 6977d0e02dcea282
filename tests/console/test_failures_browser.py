"""Failures, groups, tenants and workers in a real browser: flows, reading for everyone, no page wider than its window."""

import random
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Page, expect

from jobs.queue.sweep import Sweep
from tests.console.looks import look
from tests.factories import HOSTILE, LONG, JobFactory, PauseFactory, WorkerFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

HOUR = timedelta(hours=1)
type Connect = Callable[[], psycopg.Connection[Any]]


@pytest.fixture
def page(page: Page) -> Iterator[Page]:
    """A page whose console must stay without errors: a violation of the policy is one."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    assert [text for text in said if not re.search("status of 4|Error Code 4", text)] == []


def fail(
    conn: psycopg.Connection[Any],
    n: int,
    fingerprint: str = "v1:a",
    error: str = "HTTP 502 from proxy px-07",
    **more: Any,
) -> None:
    ids = [JobFactory(running=True, **more).id for _ in range(n)]
    conn.execute(
        """UPDATE "PlatformJob" SET status = 'RETRY_WAIT', "failureType" = 'TRANSIENT', fingerprint = %s, error = %s
            WHERE id = ANY (%s)""",
        [fingerprint, error, ids],
    )
    Sweep(conn, HOUR, HOUR, 0.1, random.Random(1)).light()


def test_a_group_is_said_to_be_fixed_and_comes_back(
    page: Page, live_site: str, sign_in: Callable[..., Any], conn: psycopg.Connection[Any]
) -> None:
    sign_in("operator")
    fail(conn, 3, error=HOSTILE)
    page.goto(f"{live_site}/failures/?span=1h")
    page.locator("table[aria-label=Causes] .row-link").first.click()
    expect(page.locator(".title-line .tag")).to_have_text("New")
    page.get_by_role("link", name="Change state…").click()
    dialog = page.locator("#dialog")
    expect(dialog.get_by_label("Known")).to_be_checked()
    dialog.get_by_label("Fix deployed").check()
    dialog.get_by_label("Owner").fill("dana")
    dialog.get_by_role("button", name="Change the group").click()
    expect(dialog).to_be_visible()  # no reason, nothing sent
    dialog.get_by_label(re.compile("Reason")).fill("proxy rolled back")
    dialog.get_by_role("button", name="Change the group").click()
    expect(dialog).to_be_hidden()
    expect(page.locator(".toast")).to_contain_text("Fix deployed")
    expect(page.locator(".title-line .tag")).to_have_text("Fix deployed")
    expect(page.locator(".timeline")).to_contain_text("proxy rolled back")
    page.wait_for_timeout(500)
    fail(conn, 1, error=HOSTILE, started_at=conn.execute("SELECT clock_timestamp()").fetchone()[0])
    expect(page.locator(".title-line .tag")).to_have_text("Regressed", timeout=5000)
    expect(page.locator(".timeline")).to_contain_text("it failed again")


def test_a_number_leads_to_its_rows_and_a_row_to_its_job(
    page: Page, live_site: str, sign_in: Callable[..., Any], conn: psycopg.Connection[Any]
) -> None:
    sign_in("viewer")
    fail(conn, 4, tenant_id="acme")
    fail(conn, 2, "v1:b", "no sitemap", tenant_id="globex", type="DISCOVER")
    page.goto(f"{live_site}/failures/?span=1h")
    row = page.get_by_role("row", name=re.compile("^globex"))
    row.get_by_role("link", name="2", exact=True).first.click()
    expect(page.get_by_role("heading", name="2 failed runs")).to_be_visible()
    expect(page.locator(".chip", has_text="globex")).to_be_visible()
    rows = page.locator("table[aria-label='Failed runs'] tbody tr")
    expect(rows).to_have_count(2)
    rows.first.locator(".row-link").click()
    expect(page).to_have_url(re.compile(r"/jobs/[0-9a-f-]+/"))
    page.go_back()
    page.locator(".chip", has_text="globex").get_by_role("link").click()
    expect(page.locator("table[aria-label='Failed runs'] tbody tr")).to_have_count(
        6
    )  # the failure type is still chosen, by which all six failed
    page.get_by_role("link", name="Failures", exact=True).first.click()
    expect(page.get_by_role("heading", name="Failures")).to_be_visible()


PLACES = ["/", "/failures/?span=1h", "/failures/runs/?span=1h", "/failures/group/?id=v1:a", "/failures/group/change/?id=v1:a",
          "/tenants/", "/workers/"]  # fmt: skip


def scene(conn: psycopg.Connection[Any], text: str = "") -> None:
    """Every section of these pages has something in it."""
    names = {"tenant_id": text, "type": text, "name": text} if text else {}
    WorkerFactory(id=text or "crawl-a1:1:x", types=[text or "CRAWL"], version=text[:40] or "1.4.2")
    WorkerFactory(id=f"{text}silent:2:y", heartbeat_at=conn.execute("SELECT now() - interval '1 h'").fetchone()[0])
    worker = text or "crawl-a1:1:x"
    JobFactory(running=True, worker_id=worker, current_step=text or "page 3", **names)
    JobFactory(
        running=True,
        worker_id=f"{text}silent:2:y",
        heartbeat_at=conn.execute("SELECT now() - interval '1 h'").fetchone()[0],
        **names,
    )
    JobFactory(running=True, inline=True, worker_id="x", **names)
    JobFactory.create_batch(2, **names)
    PauseFactory(type=text[:100] or "DISCOVER", reason=text or "proxies answer 502")
    fail(conn, 3, error=(text.replace("-", "") or "HTTP 502 from proxy") * 3, **names)
    conn.execute("UPDATE failure_group SET owner = %s, note = %s", [text[:200] or "dana", text or "known"])


def test_every_page_can_be_read_by_everyone(
    page: Page, live_site: str, sign_in: Callable[..., Any], conn: psycopg.Connection[Any]
) -> None:
    sign_in("operator")
    scene(conn)
    for place in PLACES:
        look(page, live_site + place, (1280,))


def test_no_page_scrolls_sideways(
    page: Page, live_site: str, sign_in: Callable[..., Any], conn: psycopg.Connection[Any]
) -> None:
    sign_in("operator")
    scene(conn, LONG)
    for place in PLACES:
        look(page, live_site + place, (390, 800, 1200, 1440), schemes=())
