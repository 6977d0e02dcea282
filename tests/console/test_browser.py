"""What people see, in a real browser: live without a reload, actions with a reason, no violation of the policy."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.console.looks import look
from tests.factories import HOSTILE, LONG, JobFactory, LogFactory, PauseFactory, WorkerFactory, everything, user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

type Connect = Callable[[], psycopg.Connection]


@pytest.fixture
def page(context: BrowserContext, page: Page) -> Iterator[Page]:
    """A page whose console must stay without errors: a violation of the policy is one."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    assert [text for text in said if not re.search("status of 4|Error Code 4", text)] == []


def insert(connection: psycopg.Connection, name: str) -> None:
    connection.execute(
        """INSERT INTO "PlatformJob" (id, "tenantId", type, name, config)
           VALUES (gen_random_uuid()::text, 'acme', 'CRAWL', %s, '{}')""",
        [name],
    )


def test_signing_in_and_out(page: Page, live_site: str) -> None:
    person = user("operator", "dana")
    person.set_password("correct horse")
    person.save()
    page.goto(f"{live_site}/jobs/?type=CRAWL")
    page.get_by_label("Username").fill("dana")
    page.get_by_label("Password", exact=True).fill("correct horse")
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{live_site}/jobs/?type=CRAWL")
    page.get_by_role("button", name=re.compile("dana")).click()
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page).to_have_url(re.compile("/accounts/login/"))


def test_the_list_shows_a_new_job_without_a_reload(
    page: Page, live_site: str, sign_in: Callable[..., Any], make_conn: Connect
) -> None:
    sign_in("viewer")
    page.goto(f"{live_site}/jobs/")
    expect(page.get_by_text("There is no job yet.")).to_be_visible()
    page.evaluate("window.notReloaded = true")
    page.wait_for_timeout(500)
    insert(make_conn(), "made by SQL")
    expect(page.get_by_role("link", name="made by SQL")).to_be_visible(timeout=2000)
    expect(page.locator(".state-strip a", has_text="Queued").locator(".count")).to_have_text("1")
    assert page.evaluate("window.notReloaded")


def test_a_half_typed_filter_survives_updates(
    page: Page, live_site: str, sign_in: Callable[..., Any], make_conn: Connect
) -> None:
    sign_in("viewer")
    page.goto(f"{live_site}/jobs/?type=CRAWL")
    page.get_by_role("textbox", name="Filter").fill("tim")
    page.wait_for_timeout(500)
    insert(make_conn(), "another")
    expect(page.get_by_role("link", name="another")).to_be_visible(timeout=2000)
    expect(page.get_by_role("textbox", name="Filter")).to_have_value("tim")
    page.get_by_role("textbox", name="Filter").press("Enter")
    expect(page).to_have_url(re.compile(r"type=CRAWL.*text=tim"))


def test_cancelling_asks_for_a_reason_and_shows_what_came_of_it(
    page: Page, live_site: str, sign_in: Callable[..., Any]
) -> None:
    sign_in("operator")
    job = JobFactory(name=HOSTILE)
    page.goto(f"{live_site}/jobs/{job.id}/")
    page.get_by_role("link", name="Cancel…").click()
    dialog = page.locator("#dialog")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Cancel the job").click()
    expect(dialog).to_be_visible()  # no reason, nothing sent
    dialog.get_by_label(re.compile("Reason")).fill("duplicate of the 02:30 run")
    dialog.get_by_role("button", name="Cancel the job").click()
    expect(dialog).to_be_hidden()
    expect(page.locator(".toast")).to_contain_text("cancelled")
    expect(page.locator(".title-line .badge")).to_have_text("Cancelled")
    expect(page.locator(".timeline")).to_contain_text("duplicate of the 02:30 run")
    expect(page.get_by_role("link", name="Run again…")).to_be_visible()


def test_a_state_that_changed_meanwhile_is_said(
    page: Page, live_site: str, sign_in: Callable[..., Any], make_conn: Connect
) -> None:
    sign_in("operator")
    job = JobFactory()
    page.goto(f"{live_site}/jobs/{job.id}/")
    page.get_by_role("link", name="Cancel…").click()
    expect(page.locator("#dialog")).to_be_visible()
    make_conn().execute("""UPDATE "PlatformJob" SET status = 'DONE'""")
    page.locator("#dialog").get_by_label(re.compile("Reason")).fill("too late")
    page.locator("#dialog").get_by_role("button", name="Cancel the job").click()
    expect(page.locator(".toast")).to_contain_text("already Done")


def test_a_pause_shows_in_every_tab_without_a_reload(
    context: BrowserContext, page: Page, live_site: str, sign_in: Callable[..., Any]
) -> None:
    sign_in("operator")
    JobFactory.create_batch(3)
    WorkerFactory()
    page.goto(f"{live_site}/jobs/")
    other = context.new_page()
    other.goto(f"{live_site}/")
    other.get_by_role("link", name="Pause…").click()
    dialog = other.locator("#dialog")
    expect(dialog.get_by_label(re.compile("Reason"))).to_be_focused()
    expect(dialog).not_to_have_class(re.compile("htmx-"))  # from here on nothing takes the keys from the user
    dialog.get_by_label("Type", exact=True).fill("CRAWL")
    expect(dialog.locator("#pause-effect")).to_contain_text("Holds 3 queued jobs now")
    dialog.get_by_label(re.compile("Reason")).fill("proxies answer 502")
    dialog.get_by_role("button", name="Pause", exact=True).click()
    expect(other.locator(".banner.pause")).to_contain_text("proxies answer 502")
    page.bring_to_front()
    expect(page.locator("#pause-line")).to_contain_text("1 pause holds 3 jobs.", timeout=3000)
    expect(page.locator("#jobs-table .held").first).to_be_visible()
    page.goto(f"{live_site}/pauses/")
    page.get_by_role("link", name="Lift…").click()
    page.locator("#dialog").get_by_label(re.compile("Reason")).fill("they are back")
    page.locator("#dialog").get_by_role("button", name="Lift the pause").click()
    expect(page.get_by_text("Nothing is paused")).to_be_visible()


def test_a_job_is_made_and_found(page: Page, live_site: str, sign_in: Callable[..., Any]) -> None:
    sign_in("operator")
    page.goto(f"{live_site}/jobs/")
    page.get_by_role("link", name="New job…").click()
    page.get_by_label("Type", exact=True).fill("CRAWL")
    page.get_by_label("Tenant", exact=True).fill("acme")
    page.get_by_label("Config, a JSON object").fill('{"a": NaN}')
    page.get_by_role("button", name="Enqueue the job").click()
    expect(page.locator(".problem")).to_contain_text("$.a")
    page.get_by_label("Config, a JSON object").fill('{"url": "https://a.example/"}')
    page.get_by_role("button", name="Enqueue the job").click()
    expect(page.locator(".title-line .badge")).to_have_text("Queued")
    job_id = page.url.rstrip("/").rsplit("/", 1)[1]
    page.goto(live_site)
    page.get_by_role("searchbox").fill(job_id)
    page.get_by_role("searchbox").press("Enter")
    expect(page).to_have_url(f"{live_site}/jobs/{job_id}/")


def test_progress_moves_on_the_jobs_page_and_open_values_stay_open(
    page: Page, live_site: str, sign_in: Callable[..., Any], make_conn: Connect
) -> None:
    sign_in("viewer")
    job = JobFactory(running=True, config={"deep": {"a": list(range(20))}})
    page.goto(f"{live_site}/jobs/{job.id}/")
    page.locator(".json summary", has_text="a").last.click()
    page.wait_for_timeout(500)
    connection = make_conn()
    connection.execute("""UPDATE "PlatformJob" SET progress = 87, "currentStep" = 'page 44 of 50'""")
    insert(connection, "a hint")
    expect(page.locator("[aria-label=Progress]")).to_contain_text("page 44 of 50", timeout=3000)
    expect(page.locator(".json li", has_text="19").last).to_be_visible()


PLACES = ["/", "/jobs/", "/jobs/a-job/", "/pauses/", "/failures/", "/dlq/", "/tenants/", "/workers/", "/audit/", "/settings/",
          "/enqueue/", "/ledger/", "/operations/", "/why/"]  # fmt: skip


def test_every_page_can_be_read_by_everyone(page: Page, live_site: str, sign_in: Callable[..., Any]) -> None:
    sign_in("operator")
    everything()
    everything(LONG)
    JobFactory(id="a-job", dead=True)
    LogFactory(job_id="a-job")
    WorkerFactory()
    PauseFactory()
    for place in PLACES:
        look(page, live_site + place, (1280,))


def test_no_page_scrolls_sideways(page: Page, live_site: str, sign_in: Callable[..., Any]) -> None:
    sign_in("operator")
    everything(LONG)
    JobFactory(id="a-job", dead=True, name=LONG, error=LONG.replace("-", "") * 3)
    PauseFactory(type=LONG[:100], reason=LONG)
    WorkerFactory(id=LONG, types=[LONG])
    for place in PLACES:
        look(page, live_site + place, (390, 800, 1200, 1440), schemes=())
