"""One site as a job sees it: its rules, what belongs to it, and a polite way to fetch from it."""

import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import NoReturn, Self

from jobs.conf import conf
from jobs.handlers.context import JobContext
from jobs.handlers.web.config import SiteConfig
from jobs.handlers.web.errors import AddressNotAllowed, InvalidJobInput, NoAnswer, RobotsDisallow, SiteAnswered
from jobs.handlers.web.fetch import Fetched, Fetcher
from jobs.handlers.web.guard import Guard
from jobs.handlers.web.limits import USER_AGENT, USER_AGENT_TOKEN, Limits
from jobs.handlers.web.pace import Pace
from jobs.handlers.web.report import Notices
from jobs.handlers.web.robots import Robots, Rules
from jobs.handlers.web.sitemaps import Sitemap, read_sitemaps
from jobs.handlers.web.transport import guarded_client
from jobs.handlers.web.urls import origin, site

ROBOTS, OFF_SITE, FILTERED = "robots.txt", "another site", "include and exclude"


class Site:
    """A context manager; leaving it closes the connections."""

    def __init__(
        self, job: JobContext, config: SiteConfig, limits: Limits, *, ssl_context: ssl.SSLContext | None = None
    ) -> None:
        self.config = config
        self.limits = limits
        self.notices = Notices(job.log)
        self._where = site(config.url)
        self._client = guarded_client(
            Guard(conf().outbound_allowed_networks),
            user_agent=USER_AGENT,
            total_seconds=limits.total_seconds,
            check=job.raise_if_cancelled,
            ssl_context=ssl_context,
        )
        pace = Pace(job.sleep, config.delay_seconds, limits.delay_seconds)
        self._fetcher = Fetcher(self._client, pace, limits, job.log)
        self._robots = Robots(self._fetcher, pace, limits)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.notices.close()
        self._client.close()

    def start_rules(self) -> Rules:
        """The rules for the start page. Raises when the site cannot be reached or names no rules because it is in
        trouble: without them nothing may be fetched, and another run may find them."""
        rules = self._robots.rules(self.config.url)
        if not rules.known:
            raise_failure(replace(rules.answer, url=self.config.url), "the site's file of rules for crawlers")
        return rules

    def check_start(self, rules: Rules) -> None:
        """Raises `RobotsDisallow`."""
        if not rules.allow(self.config.url):
            raise RobotsDisallow(self.config.url, USER_AGENT_TOKEN)

    def belongs(self, url: str) -> bool:
        return site(url) == self._where

    def why_not(self, url: str) -> str | None:
        """Why `url` is not fetched, in words, or None. The start page is fetched whatever the globs say: without it
        there would be nothing to begin with."""
        if not self.belongs(url):
            return OFF_SITE
        if url != self.config.url and not self.config.wants(url):
            return FILTERED
        if not self._robots.allow(url):
            self.notices.note("refused by robots.txt", "robots.txt refuses %s", url)
            return ROBOTS
        return None

    def fetch_page(self, url: str, was_visited: Callable[[str], bool]) -> Fetched:
        """Fetches one page of the site; its redirects are followed within the site, and to no page that was visited."""

        def why_not_follow(target: str) -> str | None:
            if was_visited(target):
                return "redirects to a page that was fetched before"
            why = self.why_not(target)
            return f"redirects to what is not fetched ({why})" if why else None

        return self._fetcher.fetch(url, most_bytes=self.limits.page_bytes, html_only=True, may_follow=why_not_follow)

    def sitemaps(self, rules: Rules, most_urls: int) -> Iterator[Sitemap]:
        """Reads the sitemaps that robots.txt names, and /sitemap.xml."""
        start = dict.fromkeys([*rules.sitemaps[: self.limits.sitemaps], f"{origin(self.config.url)}/sitemap.xml"])
        return read_sitemaps(self._fetcher, list(start), self.limits, most_urls=most_urls)


def raise_failure(answer: Fetched, what: str) -> NoReturn:
    """Raises what says best why `answer` is no start for a job; its status or the network's error stays with it."""
    if isinstance(answer.cause, AddressNotAllowed):
        raise answer.cause
    if answer.location is not None:
        raise InvalidJobInput("url", f"{answer.url} {answer.reason}: {answer.location}")
    if answer.status is not None:
        raise SiteAnswered(what, answer.url, answer.status, answer.retry_after)
    raise NoAnswer(answer.url, answer.reason or "no answer") from None
