"""A crawl goes on from its checkpoint: nothing is lost, nothing is fetched twice, whoever wrote the checkpoint."""

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from jobs.domain.errors import JobCancelled, RunLost, RunTooLong, StopRun, WorkerStopping
from jobs.handlers.crawl import crawl
from jobs.handlers.discover import discover
from jobs.handlers.web.limits import Limits
from tests.handlers.running import Run
from tests.site import Site


class Killed(BaseException):
    """The process is gone: nothing of the handler runs any more."""


def stored(data: Any) -> Any:
    return json.loads(json.dumps(data))


@pytest.mark.parametrize("interval", [1, 5, 10])
def test_after_a_kill_no_more_pages_are_fetched_twice_than_the_interval_explains(
    quick: Limits, settings_in_force: Callable[..., None], interval: int
) -> None:
    settings_in_force(crawl_checkpoint_interval=interval)
    with Site(pages=60, special=("chain", "loop", "missing")) as site:
        first = Run({"url": site.url, "delayMs": 0})

        def kill() -> None:
            if len(site.hits) > 40:
                raise Killed

        first.job.raise_if_cancelled = kill  # type: ignore[method-assign]
        with pytest.raises(Killed):
            crawl(first.job, quick)
        second = Run({"url": site.url, "delayMs": 0}, stored(first.recorder.checkpoints[-1]))
        result = crawl(second.job, quick)
        twice = {path for path, count in site.counts.items() if count > 1} - {"/robots.txt"}
        assert len(twice) <= interval  # those since the checkpoint, and the one under way
        assert {f"/page/{n}" for n in range(60)} <= set(site.counts)
        assert result["pagesFetched"] == len(result["pages"])
        assert len({page["url"] for page in result["pages"]}) == len(result["pages"])
        assert result["statusCounts"]["404"] == 2


@pytest.mark.parametrize(
    ("handler", "reason"), [(crawl, JobCancelled), (crawl, WorkerStopping), (discover, RunTooLong)]
)
def test_a_run_that_is_stopped_saves_and_the_next_one_fetches_no_page_again(
    quick: Limits, reason: type[StopRun], handler: Any
) -> None:
    with Site(pages=40, special=("loop",), page_seconds=0.01) as site:
        first = Run({"url": site.url, "delayMs": 0})
        first.stop_after(0.4, reason())
        with pytest.raises(reason):
            handler(first.job, quick)
        assert 3 < len(site.hits) < 50
        second = Run({"url": site.url, "delayMs": 0}, stored(first.recorder.checkpoints[-1]))
        result = handler(second.job, quick)
        twice = {path for path, count in site.counts.items() if count > 1}
        twice = {path for path in twice if path.startswith(("/page", "/loop")) or path == "/"}
        assert len(twice) <= 1  # the page under way when the run was stopped
        if handler is crawl:
            assert {f"{site.url}/page/{n}" for n in range(40)} <= {page["url"] for page in result["pages"]}
        else:
            assert {f"{site.url}/page/{n}" for n in range(40)} <= set(result["urls"])


def test_a_run_that_was_taken_away_writes_no_checkpoint(quick: Limits) -> None:
    with Site(pages=40, page_seconds=0.01) as site:
        one = Run({"url": site.url, "delayMs": 0})
        one.recorder.on_checkpoint = lambda data: one.stop.set(RunLost())
        with pytest.raises(RunLost):
            crawl(one.job, quick)
    assert len(one.recorder.checkpoints) == 1


def test_a_checkpoint_has_the_keys_of_the_contract(quick: Limits) -> None:
    with Site(pages=30) as site:
        one = Run({"url": site.url, "delayMs": 0})
        crawl(one.job, quick)
    saved = one.recorder.checkpoints[0]
    assert len(saved["visitedUrls"]) == 10 and all(isinstance(url, str) for url in saved["visitedUrls"])
    assert saved["pendingQueue"] and all(set(entry) == {"url", "depth"} for entry in saved["pendingQueue"])


@pytest.mark.parametrize("shape", ["strings", "objects", "pairs", "mixed"])
def test_another_programs_checkpoint_is_understood(quick: Limits, shape: str) -> None:
    with Site(pages=20, sitemap=False) as site:
        waiting: list[Any] = [f"{site.url}/page/5", f"{site.url}/page/6#x", f"{site.url}/page/0"]
        if shape == "objects":
            waiting = [{"url": url, "depth": 2, "referrer": site.url} for url in waiting]
        elif shape == "pairs":
            waiting = [[url, 2] for url in waiting]
        elif shape == "mixed":
            junk = [
                None,
                7,
                {},
                {"depth": 1},
                {"url": 9},
                "no url",
                [],
                "http://elsewhere.example/",
                {"url": f"{site.url}/page/7", "depth": "x"},
            ]
            waiting = [*junk, *waiting, {"url": f"{site.url}/page/8", "depth": -3}]
        visited = [f"{site.url}/", f"{site.url}/page/0", None, {"url": f"{site.url}/page/1"}, 5]
        result = crawl(
            Run({"url": site.url, "delayMs": 0}, {"visitedUrls": visited, "pendingQueue": waiting}).job, quick
        )
        assert site.counts["/page/5"] == site.counts["/page/6"] == 1
        assert site.counts["/"] == site.counts["/page/0"] == site.counts["/page/1"] == 0
        assert result["pagesFetched"] == len(result["pages"]) + 3
        assert result["pagesNotListed"] == 3


@pytest.mark.parametrize(
    "damaged",
    [
        "text", 7, [], True, {}, {"visitedUrls": 7}, {"visitedUrls": {}, "pendingQueue": "x"}, {"pendingQueue": None},
        {"visitedUrls": ["{url}/page/0"]}, {"visitedUrls": None, "pendingQueue": 5, "detiq": []},
        {"visitedUrls": ["{url}/"], "pendingQueue": {}, "detiq": {"pages": "x"}},
    ],
)  # fmt: skip
def test_a_damaged_checkpoint_begins_anew_and_says_so(
    quick: Limits, damaged: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with Site(pages=12) as site:
        checkpoint = json.loads(json.dumps(damaged).replace("{url}", site.url))
        crawl(Run({"url": site.url, "delayMs": 0}, checkpoint).job, quick)
        assert {"/", *(f"/page/{n}" for n in range(1, 12))} <= set(site.counts)
        assert all(count == 1 for path, count in site.counts.items())
    assert "begins anew" in caplog.text


@pytest.mark.parametrize(
    "own",
    [
        None, [], "x", {"pages": -1, "bytes": "x", "listed": {}, "statusCounts": [1], "failed": 7},
        {"statusCounts": {"200": "many"}, "listed": [1, None], "seconds": 1e400, "pages": True},
    ],
)  # fmt: skip
@pytest.mark.parametrize("handler", [crawl, discover])
def test_damage_in_our_own_part_costs_only_that_part(quick: Limits, own: Any, handler: Any) -> None:
    with Site(pages=12) as site:
        data = {
            "visitedUrls": [f"{site.url}/"],
            "pendingQueue": [{"url": f"{site.url}/page/3", "depth": 1}],
            "detiq": own,
        }
        handler(Run({"url": site.url, "delayMs": 0}, data).job, quick)
        assert site.counts["/page/3"] == 1 and site.counts["/"] == 0


def test_max_pages_counts_the_whole_crawl(quick: Limits) -> None:
    with Site(pages=60) as site:
        first = Run({"url": site.url, "delayMs": 0, "maxPages": 30})
        first.recorder.on_checkpoint = lambda data: first.stop.set(WorkerStopping())
        with pytest.raises(WorkerStopping):
            crawl(first.job, quick)
        second = Run({"url": site.url, "delayMs": 0, "maxPages": 30}, stored(first.recorder.checkpoints[-1]))
        assert crawl(second.job, quick)["pagesFetched"] == 30
        assert sum(count for path, count in site.counts.items() if path == "/" or path.startswith("/page/")) <= 31


def test_a_finished_crawls_checkpoint_fetches_nothing_more(quick: Limits) -> None:
    with Site(pages=9) as site:
        visited = [f"{site.url}/", f"{site.url}/page/1"]
        data = {"visitedUrls": visited, "pendingQueue": [], "detiq": {"pages": 2, "sitemapsRead": True}}
        result = crawl(Run({"url": site.url}, data).job, quick)
        assert set(site.counts) == {"/robots.txt"}
        assert result["pagesFetched"] == 2


def test_a_checkpoint_that_cannot_be_saved_while_stopping_hides_no_stop(quick: Limits) -> None:
    with Site(pages=40, page_seconds=0.01) as site:
        one = Run({"url": site.url, "delayMs": 0})

        def fail(data: Any) -> None:
            if one.stop.reason:
                raise OSError("database away")

        one.recorder.on_checkpoint = fail
        one.stop_after(0.3, JobCancelled())
        with pytest.raises(JobCancelled):
            crawl(one.job, dataclasses.replace(quick))
