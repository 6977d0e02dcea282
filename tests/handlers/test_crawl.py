"""A crawl of a hard site ends within its limits, with every page's outcome; only the site as a whole can fail the job."""

import json
import logging
import socket
from dataclasses import replace
from typing import Any

import pytest

from jobs.domain.classification import classify
from jobs.domain.signs import sign_of
from jobs.handlers.crawl import crawl
from jobs.handlers.web.errors import InvalidJobInput, NoAnswer, RobotsDisallow, SiteAnswered
from jobs.handlers.web.limits import USER_AGENT, Limits
from tests.handlers.running import Run
from tests.site import SPECIALS, Site

HARD = tuple(name for name in SPECIALS if name not in ("calendar", "silent", "trickle"))


def run(site: Site, limits: Limits, **config: Any) -> tuple[dict[str, Any], Run]:
    one = Run({"url": site.url, "delayMs": 0, **config})
    result = crawl(one.job, limits)
    json.dumps(result, allow_nan=False).encode()  # what cannot be stored is no result
    return result, one


def by_path(result: dict[str, Any], site: Site) -> dict[str, dict[str, Any]]:
    return {page["url"].removeprefix(site.url): page for page in result["pages"]}


def test_every_page_of_a_hard_site_has_its_outcome(quick: Limits) -> None:
    with Site(pages=30, special=SPECIALS) as site:
        result, one = run(site, quick, maxPages=200, maxDepth=4)
        page = by_path(result, site)
    assert page["/"]["title"] == "Start"
    assert {f"/page/{n}" for n in range(30)} <= set(page)
    assert page["/redirect/chain/3"]["redirectedTo"] == f"{site.url}/chain-end"
    assert page["/redirect/loop/a"]["reason"] == "redirects in a loop"
    assert page["/redirect/off-site"]["redirectedTo"] == "http://elsewhere.example/there"
    assert (page["/missing"]["status"], page["/error"]["status"]) == (404, 500)
    assert page["/busy"]["status"] == 200
    assert page["/big"]["cut"] and "/after-big" in page and "/beyond-the-cut" not in page
    assert page["/latin-1"]["title"] == "Größe café"
    assert page["/shift-jis"]["title"] == "日本語のページ"
    assert page["/utf-16"]["title"] == "Ελληνικά"
    assert page["/silent"]["status"] is None and "within 1 seconds" in page["/silent"]["reason"]
    assert page["/trickle"]["cut"] and "within 1 seconds" in page["/trickle"]["reason"]
    assert "broke" in page["/hang-up"]["reason"]
    assert page["/image.png"]["contentType"] == "image/png" and page["/image.png"]["size"] == 100_000
    assert "/private/secret" not in page and site.counts["/private/secret"] == 0
    assert {"/page/1", "/page/3"} <= set(page) and "/in-comment" not in page and "/in-script" not in page
    assert "/elsewhere/here" in page and "/followed" in page and "/not-followed" not in page
    assert "/bottom" in page and "/from-packed" in page
    assert page["/packed-bomb"]["cut"]
    assert "/only-in-sitemap" in page and "/from-gz" in page
    assert page["/page/20"]["depth"] >= 1

    assert result["pagesFetched"] == len(result["pages"]) == sum(result["statusCounts"].values())
    assert result["failureCount"] == len(result["failures"])
    assert {f["url"].removeprefix(site.url) for f in result["failures"]} >= {
        "/missing",
        "/error",
        "/silent",
        "/hang-up",
    }
    assert not result["truncated"]
    assert result["linksNotFollowed"]["robots.txt"] == 1
    assert result["bytes"] > 2_000_000
    assert one.recorder.steps[-1][1:] == (100, f"Fetched {result['pagesFetched']} pages")
    again = {path: count for path, count in site.counts.items() if count > 1}
    assert again == {"/busy": 2, "/hang-up": 2}
    assert {hit.agent for hit in site.hits} == {USER_AGENT}


@pytest.mark.parametrize("order", [("chain", "chain-end"), ("chain-end", "chain")])
def test_what_a_redirect_leads_to_is_fetched_once(quick: Limits, order: tuple[str, ...]) -> None:
    with Site(pages=0, special=order, sitemap=False) as site:
        result, _ = run(site, quick)
        assert site.counts["/chain-end"] == 1
        assert by_path(result, site)["/redirect/chain/3"]["redirectedTo"] == f"{site.url}/chain-end"


def test_an_endless_site_ends_at_the_limits(quick: Limits) -> None:
    with Site(pages=0, special=("calendar",), sitemap=False) as site:
        deep, _ = run(site, quick, maxDepth=5)
        assert 6 <= deep["pagesFetched"] <= 12
        wide, _ = run(site, quick, maxDepth=100, maxPages=25)
        assert wide["pagesFetched"] == 25
        assert wide["truncated"] and wide["urlsLeftOut"] > 0
        only_start, _ = run(site, quick, maxDepth=0)
        assert only_start["pagesFetched"] == 1


def test_include_and_exclude(quick: Limits) -> None:
    with Site(pages=20) as site:
        result, _ = run(site, quick, include=["/page/*"], exclude=["/page/1*"])
        assert set(by_path(result, site)) == {"/", "/page/0", *(f"/page/{n}" for n in range(2, 10))}
        assert result["linksNotFollowed"]["include and exclude"] > 0


def test_lists_stay_small_and_it_is_said(quick: Limits) -> None:
    with Site(pages=30) as site:
        result, one = run(site, replace(quick, listed_pages=5, listed_failures=1))
        assert len(result["pages"]) == 5
        assert result["pagesNotListed"] == result["pagesFetched"] - 5 > 0


def test_the_memory_of_urls_is_bounded(quick: Limits) -> None:
    with Site(pages=300) as site:
        result, one = run(site, replace(quick, remembered_bytes=2_000))
        assert result["truncated"] and 10 < result["pagesFetched"] < 100
        assert all(
            len(json.dumps(saved["visitedUrls"] + saved["pendingQueue"])) < 5_000 for saved in one.recorder.checkpoints
        )


def test_progress_is_calm_and_never_goes_back(quick: Limits) -> None:
    with Site(pages=45, page_seconds=0.03) as site:
        _, one = run(site, quick)
    times = [at for at, _percent, step in one.recorder.steps if step.startswith("Fetch pages")]
    percents = [percent for _at, percent, _step in one.recorder.steps]
    assert len(times) >= 2
    assert all(later - earlier >= 0.45 for earlier, later in zip(times, times[1:], strict=False))
    assert percents == sorted(percents) and percents[-1] == 100
    assert any(
        step == f"Fetch pages, {n} of {m}" for _, _, step in one.recorder.steps for n in range(99) for m in range(99)
    )


def test_noteworthy_things_reach_the_log_but_do_not_flood_it(quick: Limits, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="tests.job")
    with Site(pages=60) as site:
        site.robots = "User-agent: DetiqBot\nDisallow: /page/1\n"
        run(site, quick)
    lines = [record.getMessage() for record in caplog.records if record.name == "tests.job"]
    assert any("robots.txt refuses" in line for line in lines)
    assert len(lines) < 30


@pytest.mark.parametrize("status", [404, 403, 410, 500, 503, 429])
def test_without_a_start_page_the_job_fails_and_the_status_is_kept(quick: Limits, status: int) -> None:
    with Site(start_status=status) as site, pytest.raises(SiteAnswered, match=f"HTTP {status}") as failed:
        run(site, quick)
    assert failed.value.status == status


def test_the_wait_that_a_busy_site_asks_for_is_kept(quick: Limits) -> None:
    with Site(busy_times=99, retry_after="120") as site, pytest.raises(SiteAnswered) as failed:
        run(site, quick, url=site.url + "/busy")
    assert (failed.value.status, failed.value.retry_after) == (429, 120.0)


def test_a_site_that_takes_no_connections_is_a_connection_error(quick: Limits) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(NoAnswer) as failed:
            crawl(Run({"url": f"http://127.0.0.1:{free.getsockname()[1]}/"}).job, quick)
    assert isinstance(failed.value, ConnectionError)
    assert "refused" not in str(failed.value).lower()  # that word is kept for services of our own


def test_a_name_that_does_not_resolve_is_a_connection_error(quick: Limits, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr("jobs.handlers.web.guard.system_resolver", unknown)
    with pytest.raises(NoAnswer, match="does not resolve"):
        crawl(Run({"url": "http://nowhere.example/"}).job, quick)


def test_a_start_page_that_leads_to_another_site_is_bad_input(quick: Limits) -> None:
    with Site() as site, pytest.raises(InvalidJobInput, match="elsewhere.example"):
        run(site, quick, url=site.url + "/redirect/off-site")


def test_robots_that_refuse_the_start_page_fail_the_job(quick: Limits) -> None:
    with Site(robots="User-agent: *\nDisallow: /") as site:
        with pytest.raises(RobotsDisallow, match="does not allow DetiqBot"):
            run(site, quick)
        assert set(site.counts) == {"/robots.txt"}


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_robots_that_are_not_there_forbid_nothing(quick: Limits, status: int) -> None:
    with Site(pages=2, robots_status=status, robots="User-agent: *\nDisallow: /") as site:
        result, _ = run(site, quick)
    assert result["pagesFetched"] > 1


@pytest.mark.parametrize("status", [500, 503, 429])
def test_while_robots_cannot_be_read_nothing_is_fetched(quick: Limits, status: int) -> None:
    with Site(pages=2, robots_status=status) as site:
        with pytest.raises(SiteAnswered, match=r"rules for crawlers answered") as failed:
            run(site, quick)
        assert failed.value.status == status
        assert set(site.counts) == {"/robots.txt"}


def test_when_the_site_goes_away_the_job_fails_with_its_pages_still_waiting(quick: Limits) -> None:
    site = Site(pages=60)
    with site:
        one = Run({"url": site.url, "delayMs": 0})
        one.recorder.on_checkpoint = lambda data: site.close() if len(one.recorder.checkpoints) == 2 else None
        with pytest.raises(NoAnswer):
            crawl(one.job, quick)
    last = one.recorder.checkpoints[-1]
    assert len(last["visitedUrls"]) >= 20
    assert len(last["visitedUrls"]) + len(last["pendingQueue"]) >= 60
    assert last["detiq"]["failureCount"] == 0


def test_failures_are_of_the_type_that_their_cause_deserves(quick: Limits) -> None:
    """A target's trouble passes, a target's no does not, and neither reads like trouble of our own."""
    assert failure_type({"url": "nonsense"}, quick) == "LOGICAL"
    assert failure_type({"url": "http://10.0.0.1/"}, quick) == "LOGICAL"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        assert failure_type({"url": f"http://127.0.0.1:{free.getsockname()[1]}/"}, quick) == "TRANSIENT"
    for options, path, expected in (
        ({"start_status": 404}, "/", "LOGICAL"),
        ({"start_status": 503}, "/", "TRANSIENT"),
        ({"robots_status": 503}, "/", "TRANSIENT"),
        ({"robots": "User-agent: *\nDisallow: /"}, "/", "LOGICAL"),
        ({}, "/redirect/off-site", "LOGICAL"),
        ({}, "/hang-up", "TRANSIENT"),
        ({}, "/silent", "TRANSIENT"),
        ({"busy_times": 9, "retry_after": "120"}, "/busy", "TRANSIENT"),
    ):
        with Site(**options) as site:
            assert failure_type({"url": site.url + path}, quick) == expected, (options, path)


def failure_type(config: dict[str, Any], limits: Limits) -> str:
    with pytest.raises(Exception) as failed:  # noqa: B017, PT011 - which one is what is asked
        crawl(Run({"delayMs": 0, **config}).job, limits)
    return str(classify(sign_of(failed.value)).failure_type.value)
