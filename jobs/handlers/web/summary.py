"""What a crawl found, in numbers and in a list of pages that stays small. Survives in the checkpoint."""

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from jobs.handlers.web.limits import Limits
from jobs.handlers.web.page import Page, clean
from jobs.handlers.web.walk import NO_ROOM, Visit


class Summary:
    """`pages` counts every page so far, those of earlier runs included. Times are seconds, sizes bytes."""

    def __init__(self, limits: Limits, pages_before: int = 0) -> None:
        self._limits = limits
        self._started = time.monotonic()
        self._seconds_before = 0.0
        self.unlisted_before = pages_before
        self.pages = pages_before
        self.bytes = 0
        self.failures = 0
        self.cut = 0
        self.sitemaps_read = False
        self._statuses: Counter[str] = Counter()
        self._types: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._listed: list[dict[str, Any]] = []
        self._failed: list[dict[str, Any]] = []

    @classmethod
    def from_json(cls, own: Mapping[str, Any] | None, limits: Limits, pages_before: int) -> "Summary":
        """The summary as `to_json` gave it. Parts that are missing or damaged begin at nothing."""
        found = cls(limits, pages_before)
        own = own or {}
        counted = _count(own.get("pages"))
        if 0 < counted <= pages_before:
            # Redirects put more URLs than pages among the visited; our own count is the right one.
            found.pages, found.unlisted_before = counted, min(counted, _count(own.get("unlistedBefore")))
        found.bytes, found.failures, found.cut = (_count(own.get(key)) for key in ("bytes", "failureCount", "cut"))
        found.sitemaps_read = own.get("sitemapsRead") is True
        found._seconds_before = float(_count(own.get("seconds")))
        for counter, key in found._counters():
            counter.update(_counts(own.get(key)))
        found._listed = _objects(own.get("listed"), limits.listed_pages)
        found._failed = _objects(own.get("failed"), limits.listed_failures)
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "pages": self.pages,
            "unlistedBefore": self.unlisted_before,
            "bytes": self.bytes,
            "failureCount": self.failures,
            "cut": self.cut,
            "sitemapsRead": self.sitemaps_read,
            "seconds": round(self._seconds()),
            "listed": list(self._listed),  # copies: what is stored may be written later, while this goes on
            "failed": list(self._failed),
            **{key: dict(counter) for counter, key in self._counters()},
        }

    def add(self, visit: Visit) -> None:
        """Counts one page, and lists it while there is room."""
        fetched = visit.fetched
        self.pages += 1
        self.bytes += fetched.size if visit.page or not fetched.ok else 0
        self.cut += fetched.cut
        self._statuses[str(fetched.status) if fetched.status else "no answer"] += 1
        kind = fetched.content_type.partition(";")[0].strip().lower()
        # A site could name a new type on every page.
        self._types[kind[:80] if kind in self._types or len(self._types) < 50 else "other"] += 1
        if len(self._listed) < self._limits.listed_pages:
            self._listed.append(_record(visit))
        if (reason := _failure(visit)) is not None:
            self._fail(fetched.url, fetched.status, reason)

    def skip(self, why: str) -> None:
        """Counts a link that was not followed."""
        self._skipped[why] += 1

    def result(self, url: str, left_out: int) -> dict[str, Any]:
        """The job's result. `left_out` is how many known URLs were not fetched because a limit was reached;
        links to URLs that were not even kept are counted in `linksNotFollowed`."""
        return {
            "url": url,
            "pagesFetched": self.pages,
            "statusCounts": dict(self._statuses),
            "contentTypes": dict(self._types),
            "bytes": self.bytes,
            "durationSeconds": round(self._seconds(), 1),
            "truncated": left_out > 0 or self._skipped[NO_ROOM] > 0,
            "urlsLeftOut": left_out,
            "linksNotFollowed": dict(self._skipped),
            "pagesCut": self.cut,
            "failureCount": self.failures,
            "failures": self._failed,
            "failuresNotListed": self.failures - len(self._failed),
            "pages": self._listed,
            "pagesNotListed": self.pages - len(self._listed),
        }

    def _fail(self, url: str, status: int | None, reason: str) -> None:
        self.failures += 1
        if len(self._failed) < self._limits.listed_failures:
            self._failed.append({"url": url, "status": status, "reason": clean(reason, 300)})

    def _seconds(self) -> float:
        return self._seconds_before + time.monotonic() - self._started

    def _counters(self) -> tuple[tuple[Counter[str], str], ...]:
        return (self._statuses, "statusCounts"), (self._types, "contentTypes"), (self._skipped, "linksNotFollowed")


def _record(visit: Visit) -> dict[str, Any]:
    fetched = visit.fetched
    record: dict[str, Any] = {
        "url": fetched.url,
        "status": fetched.status,
        "depth": visit.entry[1],
        "contentType": clean(fetched.content_type, 100),
        "size": fetched.size,
        "seconds": round(fetched.seconds, 2),
        "redirectedTo": fetched.location or (fetched.redirects[-1] if fetched.redirects else None),
        "cut": fetched.cut or None,
        "reason": clean(fetched.reason, 300),
        **(_facts(visit.page) if visit.page else {}),
    }
    return {key: value for key, value in record.items() if value is not None or key == "status"}


def _facts(page: Page) -> dict[str, Any]:
    return {
        "title": page.title,
        "description": page.description,
        "heading": page.heading,
        "language": page.language,
        "canonical": page.canonical,
        "links": len(page.links),
        "nofollowLinks": page.nofollow or None,
        "linksCut": page.links_cut or None,
    }


def _failure(visit: Visit) -> str | None:
    """Why the page counts as failed. A redirect that leads to what is not fetched is none: its target was just not
    wanted."""
    fetched = visit.fetched
    if fetched.status is None or fetched.status >= 400 or fetched.cause is not None:
        return fetched.reason or f"HTTP {fetched.status}"
    if fetched.reason and fetched.reason.startswith(("redirects in", "redirects more", "redirects to '")):
        return fetched.reason
    return None


def _count(value: Any) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    return value if is_count else 0


def _counts(value: Any) -> dict[str, int]:
    if not isinstance(value, dict):
        return {}
    return {str(key)[:100]: _count(number) for key, number in list(value.items())[:100]}


def _objects(value: Any, most: int) -> list[dict[str, Any]]:
    return [entry for entry in value[:most] if isinstance(entry, dict)] if isinstance(value, list) else []
