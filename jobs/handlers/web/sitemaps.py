"""Sitemaps: URL lists, indexes of them, plain text lists, packed or not, however broken.

No XML parser is involved, so no entity can expand and no depth can hurt: the locations are picked out of the text.
"""

import html
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from jobs.handlers.web.decode import decode
from jobs.handlers.web.fetch import Fetched, Fetcher
from jobs.handlers.web.inflate import unpacked
from jobs.handlers.web.limits import MAX_URL_CHARS, Limits
from jobs.handlers.web.urls import resolve

_LOCATION = re.compile(
    r"<(?:(?!image:|video:)\w{1,20}:)?loc(?:\s[^<>]{0,200})?>(?:\s{0,99}<!\[CDATA\[)?([^<\]]{1,4096})", re.IGNORECASE
)
_INDEX = re.compile(r"<(?:\w{1,20}:)?sitemapindex[\s>]", re.IGNORECASE)
_LINE = re.compile(r"^[ \t]{0,9}(https?://\S{1,2048})[ \t\r]{0,9}$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Sitemap:
    """One file as it was read. `reason` says why nothing could be read; `cut` that something is missing."""

    url: str
    locations: tuple[str, ...] = ()
    is_index: bool = False
    cut: bool = False
    reason: str | None = None


def read_sitemaps(fetcher: Fetcher, start: list[str], limits: Limits, *, most_urls: int) -> Iterator[Sitemap]:
    """Reads the sitemaps at `start` and those that they name, each once, until `most_urls` locations or the limit of
    files is reached."""
    left = deque(start)
    seen = set(start)
    files = urls = 0
    while left and files < limits.sitemaps and urls < most_urls:
        files += 1
        found = _read(fetcher.fetch(left.popleft(), most_bytes=limits.sitemap_bytes), limits, most_urls - urls)
        yield found
        if not found.is_index:
            urls += len(found.locations)
            continue
        for named in found.locations:
            if named not in seen and len(seen) < limits.sitemaps * 4:
                seen.add(named)
                left.append(named)


def parse_sitemap(text: str, url: str, most: int) -> tuple[list[str], bool]:
    """The canonical locations in a sitemap, each once, at most `most`; and whether it is an index of sitemaps."""
    is_index = _INDEX.search(text[:4096]) is not None
    matches = _LOCATION.finditer(text) if "<" in text[:4096] else _LINE.finditer(text)
    found: dict[str, None] = {}
    for match in matches:
        target = resolve(url, html.unescape(match[1].strip()))
        if target is not None and len(match[1]) <= MAX_URL_CHARS * 2:
            found[target] = None
        if len(found) >= most:
            break
    return list(found), is_index


def _read(answer: Fetched, limits: Limits, most: int) -> Sitemap:
    if not answer.ok:
        return Sitemap(answer.url, reason=answer.reason or f"HTTP {answer.status}")
    body, missing = unpacked(answer.body, limits.sitemap_bytes)
    text, _encoding = decode(body, answer.content_type)
    locations, is_index = parse_sitemap(
        text, answer.final_url, limits.sitemaps * 4 if "<sitemapindex" in text[:4096] else most
    )
    if not locations and text.strip() and not is_index and "<urlset" not in text[:4096]:
        return Sitemap(answer.url, reason="it is no sitemap")
    return Sitemap(answer.url, tuple(locations), is_index, answer.cut or missing)
