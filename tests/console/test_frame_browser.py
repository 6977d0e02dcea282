"""The frame in a browser, against a real server on loopback: live parts, dialogs, keys, times, accessibility."""

import json
import re
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.console import gallery
from tests.console.looks import SCHEMES, fits, violations
from tests.console.stage import Stage, serve

pytestmark = pytest.mark.browser


@pytest.fixture
def chromium(browser: Browser) -> Browser:
    """The run's one browser: Playwright cannot be started twice in a process."""
    return browser


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def address(stage: Stage) -> Iterator[str]:
    with serve(stage) as address:
        yield address


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport={"width": 1440, "height": 1000})
    context.set_default_timeout(5000)
    yield context
    context.close()


def opened(context: BrowserContext, address: str, problems: list[str] | None = None) -> Page:
    page = context.new_page()
    if problems is not None:
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: message.type in {"error", "warning"} and problems.append(message.text))
    page.goto(address)
    return page


def until_streaming(page: Page, stage: Stage) -> None:
    for _ in range(50):
        if stage.streams:
            return
        page.wait_for_timeout(50)
    raise AssertionError("no stream was opened")


@pytest.mark.parametrize("width", [1440, 800, 390])
def test_every_part_is_accessible_and_keeps_the_policy(
    chromium: Browser, address: str, stage: Stage, width: int
) -> None:
    problems: list[str] = []
    context = chromium.new_context(viewport={"width": width, "height": 900})
    page = opened(context, address, problems)
    assert page.evaluate("window.pwn") is None
    fits(page)
    if width == 1440:
        page.locator("tr[data-state=QUEUED] [data-select]").first.check()
    found = in_both_themes(page)
    page.evaluate("document.querySelectorAll('[data-select]:checked').forEach((box) => box.click())")
    page.evaluate("document.getElementById('preview').showModal()")
    page.wait_for_timeout(200)
    found += in_both_themes(page, "#preview")
    context.close()
    assert found == []
    assert problems == []


def in_both_themes(page: Page, part: str = "") -> list[tuple[str, str, str, str]]:
    """What hinders people, as axe judges it."""
    found = []
    for theme in SCHEMES:
        page.emulate_media(color_scheme=theme)
        found += [
            (theme, rule["id"], node["html"][:160], node["failureSummary"][:300])
            for rule in violations(page, part)
            if rule["impact"] in {"serious", "critical"}
            for node in rule["nodes"]
        ]
    return found


def test_a_hint_brings_the_change_within_half_a_second(context: BrowserContext, address: str, stage: Stage) -> None:
    page = opened(context, address)
    until_streaming(page, stage)
    waits = []
    for figure in ("second", "third", "fourth", "fifth", "sixth"):
        stage.part = f"<p id='figure'>{figure}</p>"
        began = time.monotonic()
        stage.hint()
        expect(page.locator("#figure")).to_have_text(figure)
        waits.append(time.monotonic() - began)
        if waits[-1] <= 0.5:
            return
        page.wait_for_timeout(300)
    raise AssertionError(f"every change came late, also when the machine was idle: {waits}")


def test_a_refresh_keeps_what_the_user_is_doing(context: BrowserContext, address: str, stage: Stage) -> None:
    stage.part = (
        "<details id='more'><summary>More</summary>x</details><input id='words' value=''><p id='figure'>first</p>"
    )
    page = opened(context, address)
    until_streaming(page, stage)
    page.locator("#more summary").click()
    page.locator("#words").fill("half a sente")
    page.evaluate("document.getElementById('words').setSelectionRange(2, 5)")
    stage.part = stage.part.replace("first", "second")
    stage.hint()
    expect(page.locator("#figure")).to_have_text("second")
    assert page.evaluate(
        "(() => { const f = document.activeElement; return [f.id, f.value, f.selectionStart, f.selectionEnd]; })()"
    ) == ["words", "half a sente", 2, 5]
    assert page.locator("#more").get_attribute("open") is not None
    page.locator("[data-filter]").focus()
    stage.part = stage.part.replace("second", "third")
    stage.hint()
    expect(page.locator("#figure")).to_have_text("third")
    assert page.locator("#words").input_value() == "half a sente"


def test_one_request_is_in_flight_however_many_hints_come(context: BrowserContext, address: str, stage: Stage) -> None:
    page = opened(context, address)
    until_streaming(page, stage)
    stage.part_delay = 0.6
    for _ in range(8):
        stage.hint()
        page.wait_for_timeout(100)
    stage.part = "<p id='figure'>last</p>"
    stage.hint()
    expect(page.locator("#figure")).to_have_text("last")
    assert stage.most_in_flight == 1
    assert stage.count("/part") <= 4


def test_an_answer_older_than_an_action_is_thrown_away(context: BrowserContext, address: str, stage: Stage) -> None:
    act = "<button id='act' hx-post='/act' hx-target='#figure' hx-swap='outerHTML'>Cancel</button>"
    stage.part = f"{act}<p id='figure'>Running</p>"
    page = opened(context, address)
    until_streaming(page, stage)
    page.evaluate(
        "new MutationObserver(() => (window.seen ||= []).push(document.querySelector('#figure')?.textContent))"
        ".observe(document.getElementById('part'), {subtree: true, childList: true, characterData: true})"
    )
    stage.part_delay = 0.8
    stage.hint()
    page.wait_for_timeout(150)
    stage.part = f"{act}<p id='figure'>Cancelled</p>"
    stage.post_status, stage.post_body = 200, "<p id='figure'>Cancelled</p>"
    page.locator("#act").click()
    expect(page.locator("#figure")).to_have_text("Cancelled")
    page.wait_for_timeout(1500)
    assert set(page.evaluate("window.seen")) == {"Cancelled"}


def test_a_failed_refresh_is_marked_and_the_mark_goes(context: BrowserContext, address: str, stage: Stage) -> None:
    page = opened(context, address)
    until_streaming(page, stage)
    stage.part_status = 500
    stage.hint()
    expect(page.locator(".live-mark")).to_have_text(re.compile(r"^Not updated since \d\d:\d\d:\d\d$"))
    expect(page.locator(".sidebar [data-live-word]")).to_have_text(re.compile(r"^Not live since"))
    expect(page.locator("#figure")).to_have_text("first")
    for _ in range(2):
        page.evaluate("document.dispatchEvent(new Event('detiq:refresh'))")
        page.wait_for_timeout(200)
    expect(page.locator("#part")).to_have_class("stale")
    stage.part_status = 200
    page.evaluate("document.dispatchEvent(new Event('detiq:refresh'))")
    expect(page.locator(".live-mark")).to_have_count(0)
    expect(page.locator("#part")).not_to_have_class("stale")
    expect(page.locator(".sidebar [data-live-word]")).to_have_text("Live")


@pytest.mark.parametrize("status", [401, 302])
def test_an_ended_session_is_said_once_outside_the_part(
    context: BrowserContext, address: str, stage: Stage, status: int
) -> None:
    page = opened(context, address)
    until_streaming(page, stage)
    stage.part_status = status
    stage.hint()
    expect(page.get_by_text("Your session has ended.", exact=True)).to_be_visible()
    expect(page.locator("#figure")).to_have_text("first")
    asked = stage.count("/part")
    page.wait_for_timeout(1500)
    assert stage.count("/part") == asked
    assert stage.streams == 0


def test_all_tabs_of_a_browser_share_one_stream(context: BrowserContext, address: str, stage: Stage) -> None:
    pages = [opened(context, address) for _ in range(3)]
    until_streaming(pages[0], stage)
    pages[0].wait_for_timeout(300)
    assert stage.streams == 1
    assert stage.count("/live/") == 1
    for page in pages:
        page.close()


def test_without_a_stream_the_part_is_asked_for_by_itself(context: BrowserContext, address: str, stage: Stage) -> None:
    stage.stream_status, stage.every = 503, 1
    page = opened(context, address)
    stage.part = "<p id='figure'>second</p>"
    expect(page.locator("#figure")).to_have_text("second")
    stage.part = "<p id='figure'>third</p>"
    expect(page.locator("#figure")).to_have_text("third")
    assert stage.count("/live/") <= 3


def test_a_part_that_stops_being_live_is_asked_no_more(context: BrowserContext, address: str, stage: Stage) -> None:
    stage.every = 1
    page = opened(context, address)
    until_streaming(page, stage)
    page.evaluate("document.getElementById('part').removeAttribute('data-live')")
    asked = stage.count("/part")
    stage.hint()
    page.wait_for_timeout(2000)
    assert stage.count("/part") == asked


def test_a_hidden_tab_asks_nothing_and_catches_up(context: BrowserContext, address: str, stage: Stage) -> None:
    stage.every = 1
    page = opened(context, address)
    until_streaming(page, stage)
    show = "(hidden) => { Object.defineProperty(document, 'hidden', {configurable: true, get: () => hidden});"
    show += " document.dispatchEvent(new Event('visibilitychange')); }"
    page.evaluate(show, True)
    page.wait_for_timeout(600)
    asked = stage.count("/part")
    stage.part = "<p id='figure'>second</p>"
    stage.hint()
    page.wait_for_timeout(1500)
    assert (stage.count("/part"), stage.streams) == (asked, 0)
    page.evaluate(show, False)
    expect(page.locator("#figure")).to_have_text("second", timeout=500)
    until_streaming(page, stage)


def test_a_selection_freezes_its_part(context: BrowserContext, address: str, stage: Stage) -> None:
    stage.page = stage.render(region_url="/part")
    page = opened(context, address)
    until_streaming(page, stage)
    page.locator("tr[data-state=QUEUED] [data-select]").first.check()
    expect(page.locator("[data-selected]")).to_have_text("1 selected")
    assert page.locator("[data-eligible]").evaluate_all("all => all.map((button) => button.disabled)") == [
        False,
        True,
        True,
    ]
    stage.hint()
    expect(page.locator("[data-held-changes]")).to_have_text("Updates frozen, 1 change")
    page.keyboard.press("Escape")
    expect(page.locator("[data-selection-bar]")).to_be_hidden()


def test_times_follow_the_server_not_the_browser(chromium: Browser, address: str, stage: Stage) -> None:
    stage.page = stage.render(before=gallery.NOW - timedelta(seconds=5))
    context = chromium.new_context(timezone_id="Asia/Kathmandu")
    page = context.new_page()
    page.add_init_script("const real = Date.now; Date.now = () => real() + 600000;")
    page.goto(address)
    page.wait_for_timeout(1200)
    ago = page.locator("time[data-rel=ago]").first
    assert re.fullmatch(r"[5-9] s ago", ago.inner_text())
    assert re.fullmatch(r"in 1 min 2\d s|in 1 min 30 s", page.locator("time[data-rel=in]").first.inner_text())
    assert ago.get_attribute("title") == "2026-11-30 03:19:37.412 UTC"
    context.close()


def test_an_action_needs_a_reason_and_is_sent_once(context: BrowserContext, address: str, stage: Stage) -> None:
    stage.part = (
        "<form id='act' hx-post='/act' hx-swap='none'><textarea name='reason' required></textarea>"
        "<button type='submit'>Go</button></form>"
    )
    stage.post_delay = 0.5
    stage.post_headers = {"HX-Trigger": json.dumps({"detiq:toast": {"text": 'M\u00fcller "S\u00fcd" <b>, 名前'}})}
    page = opened(context, address)
    page.locator("#act textarea").fill("   ")
    page.locator("#act button").click()
    assert stage.count("POST /act") == 0
    page.locator("#act textarea").fill("proxies answer 502")
    page.evaluate("const f = document.getElementById('act'); f.requestSubmit(); f.requestSubmit(); f.requestSubmit()")
    expect(page.locator("#act button")).to_be_disabled()
    expect(page.locator(".toast [data-text]")).to_have_text('Müller "Süd" <b>, 名前')
    expect(page.locator("#act button")).to_be_enabled()
    assert stage.count("POST /act") == 1


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (403, "<html><p data-error-text>Viewers may not cancel.</p></html>", "Viewers may not cancel."),
        (409, "", "It changed meanwhile; nothing was done."),
        (500, "<h1>Oh</h1>", "The server could not do it (500); see Audit for what was done."),
    ],
)
def test_a_refused_action_says_why_and_replaces_nothing(
    context: BrowserContext, address: str, stage: Stage, status: int, body: str, text: str
) -> None:
    stage.part = "<button id='act' hx-post='/act' hx-target='#figure'>Go</button><p id='figure'>first</p>"
    stage.post_status, stage.post_body = status, body
    page = opened(context, address)
    page.locator("#act").click()
    expect(page.locator(".toast.refused [data-text]")).to_have_text(text)
    expect(page.locator("#figure")).to_have_text("first")


def test_keys_go_places_but_not_while_typing(context: BrowserContext, address: str, stage: Stage) -> None:
    page = opened(context, address)
    page.keyboard.press("/")
    expect(page.locator("[data-filter]")).to_be_focused()
    page.keyboard.type("j?g")
    assert page.locator("[data-filter]").input_value() == "j?g"
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('tr').dataset.state") == "RUNNING"
    page.keyboard.press("x")
    expect(page.locator("[data-selected]")).to_have_text("1 selected")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    assert "#job-e071" in page.url
    page.keyboard.press("?")
    expect(page.locator("#keys-help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys-help")).to_be_hidden()


def test_a_theme_is_kept_and_set_before_the_first_paint(context: BrowserContext, address: str, stage: Stage) -> None:
    page = opened(context, address)
    page.get_by_role("button", name="kim.osei").click()
    page.get_by_role("button", name="Dark", exact=True).click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 17, 21)"
    page.goto(address, wait_until="commit")
    page.wait_for_selector("body")
    assert page.evaluate("document.documentElement.dataset.bsTheme") == "dark"
