"""Caps and pauses in a browser: what is said before, two operators at once, the command that follows what is typed."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect

from jobs.models import Job, Pause, TenantSetting
from tests.browser import just_proved
from tests.console.looks import look
from tests.factories import JobFactory, PauseFactory, WorkerFactory, user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(context: BrowserContext, page: Page) -> Iterator[Page]:
    """A page whose console must stay without errors: a violation of the policy is one."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    assert [text for text in said if not re.search("status of 4|Error Code 4", text)] == []


def someone_else(browser: Browser, live_site: str, role: str, name: str) -> Page:
    """A second person in a browser of their own."""
    client, person = Client(), user(role, name)
    client.force_login(person, "django.contrib.auth.backends.ModelBackend")
    just_proved(client, person)
    context = browser.new_context()
    context.add_cookies(
        [
            {
                "name": settings.SESSION_COOKIE_NAME,
                "value": client.cookies[settings.SESSION_COOKIE_NAME].value,
                "url": live_site,
            }
        ]
    )
    return context.new_page()


def settled(dialog: Any) -> Any:
    """The dialog, once its fields are listened to: nobody types within the 20 ms that this takes."""
    expect(dialog).to_be_visible()
    expect(dialog.locator(".htmx-added")).to_have_count(0)
    return dialog


def open_cap(page: Page, live_site: str) -> Any:
    page.goto(f"{live_site}/tenants/tenant/?id=acme")
    page.get_by_role("link", name="Change the cap…").click()
    return settled(page.locator("#dialog"))


def test_two_admins_change_one_cap_and_the_second_is_told(
    page: Page, browser: Browser, live_site: str, sign_in: Callable[..., Any]
) -> None:
    sign_in("admin", "dana")
    JobFactory.create_batch(4, running=True, tenant_id="acme")
    JobFactory.create_batch(20, tenant_id="acme")
    other = someone_else(browser, live_site, "admin", "kim")
    mine, theirs = open_cap(page, live_site), open_cap(other, live_site)
    expect(mine).to_contain_text("4 jobs of acme run now, 20 wait.")
    theirs.get_by_label("Cap", exact=True).fill("2")
    expect(theirs).to_contain_text("nothing starts until fewer than 2 run")
    theirs.get_by_label("Note").fill("from Kim")
    theirs.get_by_label(re.compile("Reason")).fill("too many")
    expect(theirs.locator(".command code")).to_contain_text("--cap=2")
    expect(theirs.locator(".command code")).to_contain_text("--reason 'too many'")
    theirs.get_by_role("button", name="Change the cap").click()
    expect(theirs).to_be_hidden()
    expect(other.locator("#cap-live")).to_contain_text("the 4 finish, nothing starts until fewer than 2 run")
    mine.get_by_label("Cap", exact=True).fill("9")
    mine.get_by_label(re.compile("Reason")).fill("more")
    mine.get_by_role("button", name="Change the cap").click()
    expect(mine.get_by_role("alert")).to_contain_text("kim changed this since you opened it")
    settled(mine)
    expect(mine.get_by_role("alert")).to_contain_text("You had typed: cap 9")
    expect(mine.get_by_label("Cap", exact=True)).to_have_value("2")
    expect(mine.get_by_label("Note")).to_have_value("from Kim")
    assert TenantSetting.objects.get().cap == 2
    mine.get_by_label("Cap", exact=True).fill("9")
    mine.get_by_role("button", name="Change the cap").click()
    expect(mine).to_be_hidden()
    expect(page.locator(".toast")).to_contain_text("acme has a cap of 9")
    expect(page.locator("#cap-live")).to_contain_text("4 of 9 run")
    assert (TenantSetting.objects.get().cap, TenantSetting.objects.get().note) == (9, "from Kim")
    other.context.close()


def test_a_wrong_cap_is_said_at_its_field(page: Page, live_site: str, sign_in: Callable[..., Any]) -> None:
    sign_in("admin")
    dialog = open_cap(page, live_site)
    for wrong in ("-1", "abc", "99999999999"):
        dialog.get_by_label("Cap", exact=True).fill(wrong)
        dialog.get_by_label(re.compile("Reason")).fill("x")
        dialog.get_by_role("button", name="Change the cap").click()
        expect(dialog.locator("#cap-problem")).to_contain_text(f"'{wrong}' is no whole number")
        settled(dialog)  # else what is typed next may still be taken back
        expect(dialog.get_by_label("Cap", exact=True)).to_have_value(wrong)
    assert not TenantSetting.objects.exists()
    dialog.get_by_label("Cap", exact=True).fill("0")
    expect(dialog).to_contain_text("suspends acme")


def test_a_pause_is_seen_by_the_other_and_lifting_it_says_what_still_holds(
    page: Page, browser: Browser, live_site: str, sign_in: Callable[..., Any]
) -> None:
    sign_in("operator", "dana")
    WorkerFactory()
    JobFactory.create_batch(3, type="CRAWL", tenant_id="acme")
    PauseFactory(type=None, tenant_id="acme", reason="contract")
    other = someone_else(browser, live_site, "operator", "kim")
    other.goto(f"{live_site}/jobs/")
    page.goto(f"{live_site}/pauses/")
    page.get_by_role("link", name="Pause…").click()
    dialog = settled(page.locator("#dialog"))
    dialog.get_by_label("Type").fill("CRAWL")
    expect(dialog.locator("#pause-effect")).to_contain_text("Holds 3 queued jobs now.")
    dialog.get_by_label(re.compile("Reason")).fill("proxies answer 502")
    expect(dialog.locator(".command code")).to_contain_text("--type=CRAWL --until=3600s --reason 'proxies answer 502'")
    dialog.get_by_role("button", name="Pause", exact=True).click()
    expect(dialog).to_be_hidden()
    expect(other.locator("#pause-line")).to_contain_text("2 pauses hold 3 jobs", timeout=4000)
    expect(page.locator("#pauses-live")).to_contain_text("CRAWL is paused")
    made = Pause.objects.latest("pk")
    page.locator(f"#pause-{made.pk}").get_by_role("link", name="Lift…").click()
    expect(dialog).to_contain_text("Still held afterwards")
    expect(dialog).to_contain_text("contract")
    # Meanwhile the other one lifts it.
    other.goto(f"{live_site}/pauses/lift/?id={made.pk}")
    other.get_by_label(re.compile("Reason")).fill("over")
    other.get_by_role("button", name="Lift the pause").click()
    expect(other.locator(".toast")).to_contain_text("Still held by 1 pause: All types for acme")
    dialog.get_by_label(re.compile("Reason")).fill("over")
    dialog.get_by_role("button", name="Lift the pause").click()
    expect(page.locator(".toast.refused")).to_contain_text("no longer in force")
    assert Pause.objects.get(pk=made.pk).lifted_by == "kim"
    other.context.close()


def test_a_purge_is_undone_from_its_toast(page: Page, live_site: str, sign_in: Callable[..., Any]) -> None:
    sign_in("admin")
    job = JobFactory(dead=True, name="bad one")
    page.goto(f"{live_site}/jobs/{job.id}/")
    page.get_by_role("link", name="Purge…").click()
    dialog = settled(page.locator("#dialog"))
    dialog.get_by_label(re.compile("Reason")).fill("junk")
    expect(dialog.locator(".command code")).to_have_text(f"manage.py job purge {job.id} --reason junk")
    dialog.get_by_role("button", name="Purge the job").click()
    expect(page.locator(".toast")).to_contain_text("in the trash")
    page.locator(".toast").get_by_role("button", name=re.compile("Undo")).click()
    expect(page.locator(".toast")).to_contain_text("back as it was")
    expect(page.locator(".title-line .badge")).to_have_text("Dead-lettered")
    assert Job.objects.get().status == "FAILED"


def test_the_command_follows_what_is_chosen(page: Page, live_site: str, sign_in: Callable[..., Any]) -> None:
    sign_in("operator")
    job = JobFactory(dead=True)
    page.goto(f"{live_site}/jobs/{job.id}/")
    page.get_by_role("link", name="Retry…").click()
    dialog = settled(page.locator("#dialog"))
    dialog.get_by_text("from the beginning").last.click()
    dialog.get_by_label(re.compile("Reason")).fill("it's fixed")
    expect(dialog.locator(".command code")).to_have_text(
        f"manage.py job retry {job.id} --checkpoint drop --reason 'it'\"'\"'s fixed'"
    )


def test_pages_are_usable_by_everybody(page: Page, live_site: str, sign_in: Callable[..., Any]) -> None:
    sign_in("admin")
    PauseFactory()
    JobFactory(running=True, tenant_id="acme", worker_id="node-crawler-7")
    TenantSetting.objects.create(tenant_id="acme", cap=3, updated_by="kim", note="gold")
    for path in ["/tenants/tenant/?id=acme", "/types/", "/caps/tenant/?id=acme", "/pauses/", "/audit/",
                 "/pauses/new/?type=CRAWL"]:  # fmt: skip
        look(page, live_site + path, (1280, 390), ("light",))
