"""One request at a time to a host, with the pause that we or its robots.txt ask for; a cancel is seen within two seconds."""

import time
from typing import Any

import pytest

from jobs.domain.errors import JobCancelled
from jobs.handlers.crawl import crawl
from jobs.handlers.discover import discover
from jobs.handlers.web.limits import LIMITS, Limits
from jobs.handlers.web.pace import Pace
from tests.handlers.running import Run
from tests.site import Site


def gaps(site: Site) -> list[float]:
    times = site.times()
    return [later - earlier for earlier, later in zip(times, times[1:], strict=False)]


def test_the_pause_between_two_requests_is_kept_also_for_robots_and_redirects(quick: Limits) -> None:
    with Site(pages=3, special=("chain",)) as site:
        crawl(Run({"url": site.url, "delayMs": 100}).job, quick)
        assert len(site.hits) > 8
        assert min(gaps(site)) >= 0.095


def test_robots_may_ask_for_a_longer_pause(quick: Limits) -> None:
    with Site(pages=2, crawl_delay=0.3, sitemap=False) as site:
        crawl(Run({"url": site.url, "delayMs": 10}).job, quick)
        assert min(gaps(site)[1:]) >= 0.29


def test_a_shorter_pause_than_ours_changes_nothing(quick: Limits) -> None:
    with Site(pages=2, crawl_delay=0.01, sitemap=False) as site:
        crawl(Run({"url": site.url, "delayMs": 150}).job, quick)
        assert min(gaps(site)) >= 0.145


def test_no_robots_can_ask_for_an_endless_pause() -> None:
    waits: list[float] = []
    pace = Pace(waits.append, 0.25, LIMITS.delay_seconds)
    assert pace.ask_for("h", 86_400) == 30
    pace.finished("h")
    pace.wait("h")
    assert 29 < waits[0] <= 30


def test_a_busy_page_is_asked_again_after_the_time_it_named(quick: Limits) -> None:
    with Site(pages=0, special=("busy",), sitemap=False, retry_after="1") as site:
        result = crawl(Run({"url": site.url, "delayMs": 0}).job, quick)
        first, second = site.times("/busy")
    assert second - first >= 1
    assert result["statusCounts"] == {"200": 2}


def test_a_busy_page_that_names_a_long_time_is_recorded_not_waited_for(quick: Limits) -> None:
    with Site(pages=3, special=("busy",), sitemap=False, retry_after="3600") as site:
        result = crawl(Run({"url": site.url, "delayMs": 0}).job, quick)
        assert site.counts["/busy"] == 1
    assert result["statusCounts"] == {"200": 4, "429": 1}


@pytest.mark.parametrize("path", ["/silent", "/trickle"])
@pytest.mark.parametrize("handler", [crawl, discover])
def test_a_cancel_gets_through_to_a_page_that_never_ends(handler: Any, path: str) -> None:
    with Site(pages=0, special=(path.strip("/"),), sitemap=False) as site:
        one = Run({"url": site.url, "delayMs": 0})
        one.stop_after(0.6, JobCancelled())
        started = time.monotonic()
        with pytest.raises(JobCancelled):
            handler(one.job, LIMITS)
        assert time.monotonic() - started < 0.6 + 1
        assert site.counts[path] == 1
        assert {"url": site.url + path, "depth": 1} in one.recorder.checkpoints[-1]["pendingQueue"]


def test_a_cancel_gets_through_to_a_wait() -> None:
    with Site(pages=5, crawl_delay=30) as site:
        one = Run({"url": site.url})
        one.stop_after(0.3, JobCancelled())
        started = time.monotonic()
        with pytest.raises(JobCancelled):
            crawl(one.job, LIMITS)
        assert time.monotonic() - started < 1.3


def test_a_cancel_gets_through_to_a_name_that_takes_long_to_resolve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.handlers.web.guard.system_resolver", lambda host, port: time.sleep(5) or ["127.0.0.1"])
    one = Run({"url": "http://slow.example/"})
    one.stop_after(0.3, JobCancelled())
    started = time.monotonic()
    with pytest.raises(JobCancelled):
        crawl(one.job, LIMITS)
    assert time.monotonic() - started < 1.3
