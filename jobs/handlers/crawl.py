"""CRAWL: fetches a site's pages politely and says what each of them is. Goes on from its checkpoint after a crash."""

from typing import Any

from jobs.conf import conf
from jobs.handlers.context import JobContext
from jobs.handlers.registry import handler
from jobs.handlers.web.checkpoint import restore
from jobs.handlers.web.config import SiteConfig, parse
from jobs.handlers.web.frontier import Frontier
from jobs.handlers.web.limits import LIMITS, Limits
from jobs.handlers.web.report import Progress
from jobs.handlers.web.site import Site
from jobs.handlers.web.summary import Summary
from jobs.handlers.web.walk import Walk

# More URLs wait than pages are left, since some of them turn out to be redirects to pages that were fetched before.
_SLACK = 100


@handler("CRAWL")
def run(job: JobContext) -> dict[str, Any]:
    """Config: `url`, `maxPages`, `maxDepth`, `delayMs`, `include`, `exclude`. The result counts pages by status and
    lists them. A page that fails is part of the result.

    Raises `InvalidJobInput`, `AddressNotAllowed`, `RobotsDisallow`; `SiteAnswered` or `NoAnswer` when there is no
    start page, or when the site is gone in the middle; `StopRun`, after a checkpoint.
    """
    return crawl(job, LIMITS)


def crawl(job: JobContext, limits: Limits) -> dict[str, Any]:
    """The crawl within the given limits."""
    config = parse(job.config)
    frontier = Frontier(limits.remembered_bytes)
    with Site(job, config, limits) as site:
        own = restore(job.checkpoint, frontier, belongs=site.belongs, most_depth=config.max_depth, log=job.log)
        summary = Summary.from_json(own, limits, pages_before=len(frontier.visited()))
        walk = Walk(
            job,
            site,
            frontier,
            summary,
            room=lambda: config.max_pages + _SLACK - summary.pages - len(frontier),
            checkpoint_every=conf().crawl_checkpoint_interval,
        )
        if own is None:
            frontier.begin_at(config.url)
        with walk.saved_when_stopped():
            left_out = _fetch_all(config, site, frontier, walk, summary, Progress(job))
    return summary.result(config.url, left_out)


def _fetch_all(
    config: SiteConfig, site: Site, frontier: Frontier, walk: Walk, summary: Summary, progress: Progress
) -> int:
    """How many known URLs are left when the walk ends."""
    progress.show(0, "Read robots.txt", now=True)
    rules = site.start_rules()
    if summary.pages < config.max_pages:
        for _visit in walk.visits():
            if not summary.sitemaps_read:
                progress.show(0, "Read sitemaps", now=True)
                for sitemap in site.sitemaps(rules, config.max_pages):
                    for url in () if sitemap.is_index else sitemap.locations:
                        walk.offer(url, 1)
                summary.sitemaps_read = True
            _show(config, frontier, summary, progress)
            if summary.pages >= config.max_pages:
                break
    left = sum(1 for _entry in frontier.waiting())
    progress.show(100, f"Fetched {summary.pages} pages", now=True)
    return left


def _show(config: SiteConfig, frontier: Frontier, summary: Summary, progress: Progress) -> None:
    total = min(config.max_pages, summary.pages + len(frontier))
    # 99 at most while pages are left: 100 is for the end.
    progress.show(min(99, 100 * summary.pages / max(total, 1)), f"Fetch pages, {summary.pages} of {total}")
