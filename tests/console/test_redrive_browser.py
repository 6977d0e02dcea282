"""The pages of a redrive and the ends of one's own choice in a real browser: readable by everybody, in both themes, on a phone."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from jobs.models import Job, Operation, OperationItem, Pause, TenantLimit, TenantSetting
from tests.console.looks import look
from tests.console.test_browser import page as page  # the console must stay without errors here, too
from tests.factories import LONG, JobFactory, OperationFactory, PauseFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def redrives() -> list[str]:
    """Dead letters with every reason to be left, and an operation that its brake holds; the pages to look at."""
    JobFactory.create_batch(6, dead=True, tenant_id="acme", progress=62)
    JobFactory.create_batch(3, dead=True, tenant_id=LONG[:200], checkpoint=None)
    JobFactory.create_batch(2, dead=True, tenant_id="paused")
    JobFactory(dead=True, tenant_id="suspended")
    JobFactory.create_batch(2, dead=True, redrive_count=7)
    PauseFactory(type=None, tenant_id="paused")
    TenantSetting.objects.create(tenant_id="suspended", cap=0)
    options = {"rate": 600, "ramp": True, "idle_percent": 50, "priority": -5, "shown": 9, "brake_percent": 20}
    made = [
        OperationFactory(
            kind="retry", state="BRAKED", total=6, done=2, options=options, note="2 of the last 5 failed again"
        ),
        OperationFactory(kind="retry", state="RUNNING", total=6, done=2, options=options, heartbeat_at=timezone.now()),
    ]
    for operation in made:
        for position, job in enumerate(Job.objects.filter(tenant_id="acme"), 1):
            OperationItem.objects.create(
                operation=operation, position=position, job_id=job.id, tenant_id="acme", type=job.type, state="DEAD_LETTERED",
                outcome="done" if position < 3 else None, at=timezone.now() if position < 3 else None,
            )  # fmt: skip
    return [
        "/bulk/retry/?type=CRAWL", "/bulk/retry/?type=CRAWL&held=1&boomerangs=1", *(f"/operations/{one.pk}/" for one in made),
        "/operations/", "/dlq/trash/", "/tenants/tenant/?id=acme", "/pauses/new/?type=CRAWL",
    ]  # fmt: skip


@pytest.mark.parametrize("role", ["operator", "support"])
def test_a_redrives_pages_are_usable_by_everybody(
    page: Page, live_site: str, sign_in: Callable[..., Any], redrives: list[str], role: str
) -> None:
    """For support staff limited to a tenant, too."""
    person = sign_in(role)
    if role == "support":
        TenantLimit.objects.create(user=person, tenant_id="acme")
    for place in redrives:
        if role == "support" and place.startswith("/pauses/"):
            continue
        look(page, live_site + place, (1280, 390))


def test_a_pause_until_a_time_of_ones_choice(page: Page, live_site: str, sign_in: Callable[..., Any]) -> None:
    sign_in("operator")
    page.goto(f"{live_site}/pauses/new/?type=CRAWL")
    field = page.locator("#pause-until")
    expect(field).to_be_hidden()
    page.get_by_label("It ends").select_option("at")
    expect(field).to_be_visible()
    end = timezone.now() + timedelta(hours=3)
    field.fill(f"{end:%Y-%m-%dT%H:%M}")
    expect(page.get_by_text(f"--until={end:%Y-%m-%dT%H:%M}:00Z")).to_be_visible()
    page.get_by_label("Reason").fill("502s")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_text("CRAWL is paused", exact=False).first).to_be_visible()
    assert f"{Pause.objects.get().ends_at:%Y-%m-%dT%H:%M}" == f"{end:%Y-%m-%dT%H:%M}"


def test_a_braked_redrive_goes_on_slower(
    page: Page, live_site: str, sign_in: Callable[..., Any], redrives: list[str]
) -> None:
    sign_in("operator")
    page.goto(live_site + redrives[2])
    page.get_by_role("link", name="Go on, slower…").click()
    expect(page.locator("#dialog").get_by_label("Jobs a minute")).to_have_value("300")
    page.locator("#dialog").get_by_label("Reason").fill("the proxy is back")
    page.get_by_role("button", name="Resume the operation").click()
    expect(page.locator(".title-line .tag", has_text="Braked")).to_be_hidden(timeout=5_000)
    assert Operation.objects.get(pk=int(redrives[2].split("/")[2])).options["rate"] == 300
