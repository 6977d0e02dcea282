"""The remote types in a real browser: mapped, its secret read once, rotated, removed; accessible in both themes and on a phone."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from jobs.models import RemoteType
from jobs.queue import remote
from tests.console import looks
from tests.console.test_browser import page as page  # the console must stay without errors here, too
from tests.console.test_people_browser import look
from tests.factories import HOSTILE, LONG, RemoteTypeFactory, WorkerFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_from_a_mapping_to_its_end(page: Page, live_site: str, sign_in: Callable[..., Any]) -> None:
    sign_in("admin", "dana")
    page.goto(f"{live_site}/settings/")
    page.get_by_role("link", name="Remote types").click()
    look(page, "remote-empty")
    page.get_by_role("link", name="Map a type").click()
    page.get_by_label("Job type").fill("CRAWL")
    page.get_by_label("Service").fill("https://127.0.0.1/run")
    page.get_by_label("Reason").fill("the new crawler")
    page.get_by_role("button", name="Map, and make a secret").click()
    expect(page.get_by_text("a loopback address")).to_be_visible()
    look(page, "remote-refused")
    page.get_by_label("Service").fill("https://crawler.example.com/run")
    page.get_by_role("button", name="Map, and make a secret").click()
    secret = page.locator("#remote-secret").inner_text()
    terms = remote.terms("CRAWL")
    assert terms and terms.secrets == (secret,)
    look(page, "remote-secret")
    page.goto(f"{live_site}/settings/remote/type/?type=CRAWL")
    look(page, "remote-type")
    rotate = page.get_by_role("region", name="Secret")
    rotate.get_by_label("Reason").fill("every quarter")
    rotate.get_by_role("button", name="Make a new secret").click()
    assert page.locator("#remote-secret").inner_text() != secret
    page.goto(f"{live_site}/settings/remote/type/?type=CRAWL")
    remove = page.get_by_role("region", name="Remove")
    remove.get_by_label("Reason").fill("over")
    remove.get_by_role("button", name="Remove the mapping").click()
    expect(page.get_by_text("no longer run by another service")).to_be_visible()
    assert not RemoteType.objects.exists()


def test_it_reads_well_everywhere(page: Page, live_site: str, sign_in: Callable[..., Any]) -> None:
    sign_in("admin", "dana")
    RemoteTypeFactory(type="CRAWL")
    RemoteTypeFactory(type=LONG[:100], url="https://x.example/" + LONG)
    RemoteTypeFactory(type=HOSTILE)
    WorkerFactory(types=["CRAWL"])
    for name, path in (("list", "/settings/remote/"), ("type", "/settings/remote/type/?type=CRAWL")):
        looks.look(page, live_site + path, picture=f"remote-{name}")
