"""What DISCOVER found: URLs in the order of their discovery, where they were seen first, and those that are dead."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from jobs.handlers.web.frontier import Frontier
from jobs.handlers.web.limits import Limits
from jobs.handlers.web.page import clean
from jobs.handlers.web.walk import NO_ROOM, Visit

_MOST_DEAD = 20_000


class Found:
    """`dead` are URLs that were fetched and turned out to be no page: errors, and redirects to another URL."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.fetched = 0
        self.bytes = 0
        self.sources: Counter[str] = Counter()
        self.dead: dict[str, None] = {}
        self.sitemaps_read = False
        self._skipped: Counter[str] = Counter()
        self._sitemaps: list[dict[str, Any]] = []
        self._failed: list[dict[str, Any]] = []

    @classmethod
    def from_json(cls, own: Mapping[str, Any] | None, limits: Limits) -> "Found":
        """What `to_json` gave. Parts that are missing or damaged begin at nothing."""
        found = cls(limits)
        own = own or {}
        found.fetched, found.bytes = _count(own.get("pagesFetched")), _count(own.get("bytes"))
        found.sitemaps_read = own.get("sitemapsRead") is True
        for counter, key in ((found.sources, "sources"), (found._skipped, "linksNotFollowed")):
            stored = own.get(key)
            counter.update({str(k)[:100]: _count(v) for k, v in stored.items()} if isinstance(stored, dict) else {})
        dead = own.get("dead")
        found.dead = dict.fromkeys(u for u in dead[:_MOST_DEAD] if isinstance(u, str)) if isinstance(dead, list) else {}
        found._sitemaps = _objects(own.get("sitemaps"), limits.sitemaps)
        found._failed = _objects(own.get("failed"), limits.listed_failures)
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "pagesFetched": self.fetched,
            "bytes": self.bytes,
            "sitemapsRead": self.sitemaps_read,
            "sources": dict(self.sources),
            "linksNotFollowed": dict(self._skipped),
            "dead": list(self.dead),
            "sitemaps": list(self._sitemaps),  # copies: what is stored may be written later, while this goes on
            "failed": list(self._failed),
        }

    def add(self, visit: Visit) -> None:
        """Counts one page; one that is none goes to the dead."""
        fetched = visit.fetched
        self.fetched += 1
        self.bytes += fetched.size if visit.page else 0
        if fetched.redirects or fetched.location or fetched.status is None or fetched.status >= 400:
            self.dead.update(dict.fromkeys((fetched.url, *fetched.redirects[:-1])))
        if fetched.redirects and not fetched.ok:
            self.dead[fetched.redirects[-1]] = None
        no_page = fetched.status is None or fetched.status >= 400 or fetched.cause is not None
        if no_page and len(self._failed) < self._limits.listed_failures:
            reason = clean(fetched.reason or f"HTTP {fetched.status}", 300)
            self._failed.append({"url": fetched.url, "status": fetched.status, "reason": reason})

    def skip(self, why: str) -> None:
        """Counts a link that was not followed."""
        self._skipped[why] += 1

    def begin_sitemaps(self) -> None:
        """The sitemaps are read from the first one on, also when an earlier run was stopped in the middle of them."""
        self.sources["start"], self.sources["sitemap"] = 1, 0
        self._sitemaps.clear()

    def add_sitemap(self, url: str, urls: int, *, cut: bool, reason: str | None) -> None:
        """Notes one sitemap that was read, or why it was not."""
        entry = {"url": url, "urls": urls, "cut": cut or None, "reason": clean(reason, 300)}
        self._sitemaps.append({key: value for key, value in entry.items() if value is not None})

    def count(self, frontier: Frontier) -> int:
        """How many URLs are known that are not dead."""
        return frontier.known - len(self.dead)

    def result(self, url: str, frontier: Frontier, most: int) -> dict[str, Any]:
        """The job's result. `sources` counts each URL where it was first seen, the dead ones included."""
        known = dict.fromkeys([*frontier.visited(), *(waiting for waiting, _depth in frontier.waiting())])
        urls = [found for found in known if found not in self.dead]
        return {
            "url": url,
            "urls": urls[:most],
            "count": min(len(urls), most),
            "sources": {**self.sources, "links": max(0, len(known) - self.sources.total())},
            "sitemaps": self._sitemaps,
            "truncated": len(urls) > most or self._skipped[NO_ROOM] > 0,
            "pagesFetched": self.fetched,
            "bytes": self.bytes,
            "linksNotFollowed": dict(self._skipped),
            "failures": self._failed,
        }


def _count(value: Any) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if is_count else 0


def _objects(value: Any, most: int) -> list[dict[str, Any]]:
    return [entry for entry in value[:most] if isinstance(entry, dict)] if isinstance(value, list) else []
