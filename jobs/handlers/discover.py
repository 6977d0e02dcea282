"""DISCOVER: finds the URLs of a site, from robots.txt, its sitemaps, and the links on its pages."""

import time
from typing import Any

from jobs.conf import conf
from jobs.handlers.context import JobContext
from jobs.handlers.registry import handler
from jobs.handlers.web.checkpoint import restore
from jobs.handlers.web.config import SiteConfig, parse
from jobs.handlers.web.found import Found
from jobs.handlers.web.frontier import Frontier
from jobs.handlers.web.limits import LIMITS, Limits
from jobs.handlers.web.report import Progress
from jobs.handlers.web.robots import Rules
from jobs.handlers.web.site import Site
from jobs.handlers.web.walk import Walk


@handler("DISCOVER")
def run(job: JobContext) -> dict[str, Any]:
    """Config as CRAWL's; `maxPages` is how many URLs are looked for. The result holds `urls`, `count`, `sources`.

    Pages are fetched only while there is room for more URLs. Raises as CRAWL does.
    """
    return discover(job, LIMITS)


def discover(job: JobContext, limits: Limits) -> dict[str, Any]:
    """The discovery within the given limits."""
    started = time.monotonic()
    config = parse(job.config)
    frontier = Frontier(limits.remembered_bytes)
    with Site(job, config, limits) as site:
        own = restore(job.checkpoint, frontier, belongs=site.belongs, most_depth=config.max_depth, log=job.log)
        found = Found.from_json(own, limits)
        walk = Walk(
            job,
            site,
            frontier,
            found,
            room=lambda: config.max_pages - found.count(frontier),
            checkpoint_every=conf().crawl_checkpoint_interval,
        )
        if own is None:
            frontier.begin_at(config.url)
        with walk.saved_when_stopped():
            _find_all(config, site, frontier, walk, found, Progress(job))
    result = found.result(config.url, frontier, config.max_pages)
    return {**result, "durationSeconds": round(time.monotonic() - started, 1)}


def _find_all(config: SiteConfig, site: Site, frontier: Frontier, walk: Walk, found: Found, progress: Progress) -> None:
    progress.show(0, "Read robots.txt", now=True)
    rules = site.start_rules()
    for _visit in walk.visits():
        if not found.sitemaps_read:
            _read_sitemaps(config, site, rules, walk, found, progress)
        known = found.count(frontier)
        progress.show(min(99, 100 * known / config.max_pages), f"Find URLs, {known} found, {found.fetched} pages read")
        if known >= config.max_pages:
            break
    progress.show(100, f"Found {min(found.count(frontier), config.max_pages)} URLs", now=True)


def _read_sitemaps(config: SiteConfig, site: Site, rules: Rules, walk: Walk, found: Found, progress: Progress) -> None:
    found.begin_sitemaps()
    for number, sitemap in enumerate(site.sitemaps(rules, config.max_pages), start=1):
        progress.show(0, f"Read sitemaps, {number} read")
        found.add_sitemap(sitemap.url, len(sitemap.locations), cut=sitemap.cut, reason=sitemap.reason)
        for url in () if sitemap.is_index else sitemap.locations:
            found.sources["sitemap"] += walk.offer(url, 1)
    found.sitemaps_read = True
