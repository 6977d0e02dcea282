"""The config of a DISCOVER or CRAWL job, checked before the first request. Keys of other programs are left alone."""

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from jobs.handlers.web.errors import InvalidJobInput
from jobs.handlers.web.limits import MAX_URL_CHARS
from jobs.handlers.web.urls import canonical

MAX_GLOBS = 100
MAX_GLOB_CHARS = 500


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """What to fetch. `delay_seconds` is the wait between two requests to one host."""

    url: str
    max_pages: int
    max_depth: int
    delay_seconds: float
    include: tuple[re.Pattern[str], ...]
    exclude: tuple[re.Pattern[str], ...]

    def wants(self, url: str) -> bool:
        """Whether the globs let `url` in: one of `include`, if there are any, and none of `exclude`."""
        if self.include and not _matches(self.include, url):
            return False
        return not _matches(self.exclude, url)


def parse(config: Mapping[str, Any]) -> SiteConfig:
    """The checked config. Raises `InvalidJobInput`, which names the key."""
    return SiteConfig(
        url=_url(config.get("url")),
        max_pages=_whole(config, "maxPages", 500, 1, 20_000),
        max_depth=_whole(config, "maxDepth", 10, 0, 100),
        delay_seconds=_whole(config, "delayMs", 250, 0, 60_000) / 1000,
        include=_globs(config, "include"),
        exclude=_globs(config, "exclude"),
    )


def _url(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidJobInput("url", "an address such as https://example.com/ is needed")
    if len(value) > MAX_URL_CHARS:
        raise InvalidJobInput("url", f"it has {len(value)} characters; at most {MAX_URL_CHARS} are taken")
    try:
        parts = urlsplit(value.strip())
    except ValueError as error:
        raise InvalidJobInput("url", f"it cannot be read ({error})") from None
    if parts.scheme not in ("http", "https"):
        raise InvalidJobInput("url", "it must begin with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise InvalidJobInput("url", "it must not hold a user name or password")
    if (found := canonical(value)) is None:
        raise InvalidJobInput("url", "it is not the address of a web page")
    return found


def _whole(config: Mapping[str, Any], key: str, default: int, least: int, most: int) -> int:
    value = config.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidJobInput(key, f"a whole number from {least} to {most} is needed, not {str(value)[:40]!r}")
    return value


def _globs(config: Mapping[str, Any], key: str) -> tuple[re.Pattern[str], ...]:
    value = config.get(key)
    if value is None:
        return ()
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or len(found) > MAX_GLOBS:
        raise InvalidJobInput(key, f"a list of at most {MAX_GLOBS} globs such as /docs/* is needed")
    return tuple(_glob(key, entry) for entry in found)


def _glob(key: str, entry: Any) -> re.Pattern[str]:
    if not isinstance(entry, str) or not entry.strip() or len(entry) > MAX_GLOB_CHARS:
        raise InvalidJobInput(key, f"{str(entry)[:40]!r} is no glob of 1 to {MAX_GLOB_CHARS} characters")
    # The standard library's translation puts every * into an atomic group, so that no glob can make matching explode.
    return re.compile(fnmatch.translate(entry.strip()))


def _matches(globs: tuple[re.Pattern[str], ...], url: str) -> bool:
    """A glob is held against the whole URL, the path with its query, and the path."""
    parts = urlsplit(url)
    path = parts.path or "/"
    texts = (url, f"{path}?{parts.query}" if parts.query else path, path)
    return any(glob.match(text) for glob in globs for text in texts)
