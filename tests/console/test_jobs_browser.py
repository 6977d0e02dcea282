"""The jobs list in a real browser: ticks freeze it, a filter is kept, rows are taken away, the reasons are a key away."""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.console.test_browser import Connect, insert
from tests.console.test_browser import page as page  # the console must stay without errors here, too
from tests.factories import JobFactory, PauseFactory, WorkerFactory

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_tick_freezes_the_list_until_it_is_cleared(
    page: Page, live_site: str, sign_in: Callable[..., Any], make_conn: Connect
) -> None:
    sign_in("viewer")
    JobFactory(id="a", name="first")
    JobFactory(id="b", name="second")
    JobFactory(id="c,d e", name="third")
    page.goto(f"{live_site}/jobs/?type=CRAWL")
    page.wait_for_timeout(1500)  # what a stream says when it begins is no change of the list
    page.get_by_role("checkbox", name="Select first").check()
    bar = page.get_by_role("region", name="Selection")
    expect(bar).to_contain_text("1 selected")
    insert(make_conn(), "arrived meanwhile")
    expect(bar).to_contain_text("Updates frozen, 1 change", timeout=3000)
    expect(page.get_by_role("link", name="arrived meanwhile")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="arrived meanwhile")).to_be_visible(timeout=3000)
    expect(bar).to_be_hidden()
    page.get_by_role("checkbox", name="Select second").check()
    page.get_by_role("checkbox", name="Select third").check()
    bar.get_by_role("link", name="Show only these").click()
    expect(page.locator("#jobs-table tbody tr")).to_have_count(2)
    expect(page.locator(".chip")).to_contain_text("one of 2")


def test_all_that_match_is_a_link_that_later_jobs_do_not_join(
    page: Page, live_site: str, sign_in: Callable[..., Any], make_conn: Connect
) -> None:
    sign_in("viewer")
    JobFactory.create_batch(60)
    page.goto(f"{live_site}/jobs/?type=CRAWL")
    page.get_by_role("checkbox", name="Select the page").check()
    bar = page.get_by_role("region", name="Selection")
    expect(bar).to_contain_text("50 selected")
    link = bar.get_by_role("link", name="All 60 jobs that match")
    insert(make_conn(), "later")
    link.click()
    expect(page.locator(".result-line b")).to_have_text("60 jobs")
    expect(page).to_have_url(re.compile(r"type=CRAWL&to="))


def test_a_filter_is_filled_in_kept_and_forgotten(page: Page, live_site: str, sign_in: Callable[..., Any]) -> None:
    sign_in("viewer")
    JobFactory(name="mine", submitted_by="dana", config={"auth": {"kind": "form"}})
    JobFactory(name="other")
    page.goto(f"{live_site}/jobs/?state=QUEUED")
    page.get_by_role("button", name="All filters…").click()
    page.get_by_label("Submitted by").fill("dana")
    page.get_by_label("Config has").fill("auth.kind=form")
    page.get_by_role("button", name="Show the jobs").click()
    expect(page).to_have_url(f"{live_site}/jobs/?submitted=dana&config=auth.kind%3Dform&state=QUEUED")
    expect(page.locator("#jobs-table tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Save this filter…").click()
    page.get_by_label("Name", exact=True).fill("Dana’s forms")
    page.get_by_role("button", name="Save the filter").click()
    tab = page.get_by_role("navigation", name="Saved filters").get_by_role("link", name="Dana’s forms")
    expect(tab).to_have_attribute("aria-current", "page")
    page.get_by_role("link", name="All jobs").click()
    tab.click()
    expect(page.locator("#jobs-table tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Forget the saved filter Dana’s forms").click()
    expect(tab).to_have_count(0)


def test_an_export_is_a_download_and_may_be_repeated(
    page: Page, live_site: str, sign_in: Callable[..., Any], tmp_path: Path
) -> None:
    sign_in("viewer")
    JobFactory(name="=cmd|'/C calc'!A0", priority=-5)
    JobFactory(type="OTHER")
    page.goto(f"{live_site}/jobs/?type=CRAWL")
    for ending in ("csv", "json"):
        with page.expect_download() as download:
            page.get_by_role("button", name=ending.upper()).click()
        assert re.fullmatch(rf"jobs-\d{{8}}-\d{{6}}\.{ending}", download.value.suggested_filename)
        download.value.save_as(tmp_path / ending)
        expect(page.get_by_role("button", name=ending.upper())).to_be_enabled()
    with (tmp_path / "csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["name"], row["priority"]) for row in rows] == [("'=cmd|'/C calc'!A0", "-5")]


def test_why_they_wait_is_one_key_away_and_stays_fresh(
    page: Page, live_site: str, sign_in: Callable[..., Any], make_conn: Connect
) -> None:
    sign_in("viewer")
    job = JobFactory(type="CRAWL")
    WorkerFactory()
    page.goto(f"{live_site}/jobs/?type=CRAWL")
    page.keyboard.press("w")
    expect(page).to_have_url(f"{live_site}/why/?type=CRAWL")
    expect(page.get_by_text("Nothing holds them")).to_be_visible()
    PauseFactory(type="CRAWL")
    insert(make_conn(), "a hint")
    expect(page.get_by_role("row", name=re.compile("Held by a pause"))).to_contain_text("2", timeout=3000)
    page.goto(f"{live_site}/jobs/{job.id}/")
    expect(page.get_by_role("table", name="Gates").locator("tr.blocks")).to_have_count(1)
    make_conn().execute("UPDATE queue_pause SET lifted_at = now(), lifted_by = 'kim'")
    expect(page.get_by_text("Nothing holds it")).to_be_visible(timeout=3000)
