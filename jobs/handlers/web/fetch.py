"""One page from the first request to the last byte that is kept: redirects, retries, sizes, times, and words for
failures."""

import logging
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2

from jobs.handlers.web.errors import AddressNotAllowed
from jobs.handlers.web.inflate import inflate
from jobs.handlers.web.limits import Limits
from jobs.handlers.web.pace import Pace
from jobs.handlers.web.urls import host, resolve

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BUSY = frozenset({429, 503})

type HopRule = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of a URL. `status` is None when there was no answer; `reason` then says why, and `cause` is the
    error."""

    url: str
    final_url: str
    status: int | None = None
    content_type: str = ""
    body: bytes = b""
    size: int = 0
    """Bytes of the body that were read, unpacked; for a body that is not read, what the site says it has."""
    cut: bool = False
    redirects: tuple[str, ...] = field(default=())
    location: str | None = None
    """Where a redirect that was not followed leads."""
    reason: str | None = None
    cause: Exception | None = None
    retry_after: float | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.reason is None and self.status is not None and 200 <= self.status < 300

    @property
    def is_html(self) -> bool:
        """By its content type; an answer that names none is taken for a page."""
        kind = self.content_type.partition(";")[0].strip().lower()
        return kind in ("", "text/html", "application/xhtml+xml")

    @property
    def unreachable(self) -> bool:
        """The host itself could not be reached, or it asked to be left alone: no fault of this page."""
        return isinstance(self.cause, httpx2.ConnectError | httpx2.ConnectTimeout) or self.status in _BUSY


class Fetcher:
    """Fetches pages of any host, one at a time. A failure is a value; only `StopRun` is raised."""

    def __init__(
        self,
        client: httpx2.Client,
        pace: Pace,
        limits: Limits,
        log: logging.Logger | logging.LoggerAdapter[logging.Logger],
    ) -> None:
        self._client = client
        self._pace = pace
        self._limits = limits
        self._log = log

    def fetch(
        self, url: str, *, most_bytes: int, html_only: bool = False, may_follow: HopRule = lambda _target: None
    ) -> Fetched:
        """Fetches `url` and follows its redirects, each hop after the pause that its host is due. `may_follow` names a
        reason not to follow a redirect to a URL, or None. At most `most_bytes` of the body are kept; with `html_only`
        none of what is no HTML."""
        started = time.monotonic()
        hops: list[str] = []
        while True:
            found = self._patiently(hops[-1] if hops else url, most_bytes, html_only)
            found = replace(found, url=url, redirects=tuple(hops), seconds=time.monotonic() - started)
            if found.location is None:
                return found
            if (why := self._why_not(found.location, [url, *hops], may_follow)) is not None:
                return replace(found, reason=why)
            hops.append(found.location)

    def _why_not(self, target: str, seen: list[str], may_follow: HopRule) -> str | None:
        if target in seen:
            return "redirects in a loop"
        if len(seen) > self._limits.redirects:
            return f"redirects more than {self._limits.redirects} times"
        return may_follow(target)

    def _patiently(self, url: str, most_bytes: int, html_only: bool) -> Fetched:
        """Waits and asks again when the site says how long to wait, and once when it hung up before it answered."""
        hung_up = False
        for attempt in range(self._limits.page_retries + 1):
            found = self._once(url, most_bytes, html_only)
            if (
                isinstance(found.cause, httpx2.RemoteProtocolError | httpx2.ReadError)
                and not hung_up
                and not found.size
            ):
                hung_up = True
                continue
            wait = found.retry_after if found.status in _BUSY else None
            if wait is None or wait > self._limits.retry_after_seconds or attempt == self._limits.page_retries:
                break
            self._log.info("HTTP %s, asked to wait %.0f s: %s", found.status, wait, url)
            self._pace.hold(host(url), wait)
        return found

    def _once(self, url: str, most_bytes: int, html_only: bool) -> Fetched:
        self._pace.wait(host(url))
        try:
            with self._client.stream("GET", url) as response:
                return self._read(response, url, most_bytes, html_only)
        except (AddressNotAllowed, httpx2.InvalidURL) as error:
            unread = (
                error if isinstance(error, AddressNotAllowed) else AddressNotAllowed(host(url), f"unreadable: {error}")
            )
            return Fetched(url, url, reason=str(unread), cause=unread)
        except httpx2.HTTPError as error:
            return Fetched(url, url, reason=_words(error), cause=error)
        finally:
            self._pace.finished(host(url))

    def _read(self, response: httpx2.Response, url: str, most_bytes: int, html_only: bool) -> Fetched:
        head = Fetched(
            url,
            url,
            status=response.status_code,
            content_type=response.headers.get("content-type", "")[:200],
            retry_after=_retry_after(response.headers.get("retry-after")),
        )
        location = response.headers.get("location")
        if response.status_code in _REDIRECTS and location:
            target = resolve(url, location)
            # What leads to no page (mailto:, another scheme) is a failure of this page, told with its target.
            return (
                replace(head, location=target) if target else replace(head, reason=f"redirects to {location[:200]!r}")
            )
        if html_only and not head.is_html:
            return replace(head, size=_announced(response))
        return self._read_body(response, head, most_bytes)

    def _read_body(self, response: httpx2.Response, head: Fetched, most_bytes: int) -> Fetched:
        kept = bytearray()
        try:
            for piece in _unpacking(response):
                kept += piece
                if len(kept) > most_bytes:
                    return replace(head, body=bytes(kept[:most_bytes]), size=len(kept), cut=True)
        except (httpx2.HTTPError, zlib.error) as error:
            reason = _words(error) if isinstance(error, httpx2.HTTPError) else "its compressed body is broken"
            return replace(head, body=bytes(kept), size=len(kept), cut=True, reason=reason, cause=error)
        return replace(head, body=bytes(kept), size=len(kept))


def _announced(response: httpx2.Response) -> int:
    """The size of a body that is not read, as the site names it; 0 if it does not."""
    length = response.headers.get("content-length", "").strip()
    return int(length) if length.isascii() and length.isdigit() and len(length) < 16 else 0


def _unpacking(response: httpx2.Response) -> Iterator[bytes]:
    packed = response.headers.get("content-encoding", "").strip().lower()
    if packed in ("gzip", "x-gzip", "deflate"):
        return inflate(response.iter_raw())
    if packed in ("", "identity"):
        return response.iter_raw()
    raise httpx2.DecodingError(f"content encoding {packed[:40]!r} was not asked for")


def _retry_after(value: str | None) -> float | None:
    """Seconds from a Retry-After header, which holds seconds or a date; None if it cannot be read."""
    if value is None:
        return None
    text = value.strip()[:64]
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def _words(error: Exception) -> str:
    match error:
        case httpx2.TimeoutException():
            return str(error) or "no answer in time"
        case httpx2.ConnectError():
            return f"no connection: {error}"
        case httpx2.RemoteProtocolError() | httpx2.ReadError() | httpx2.WriteError():
            return f"the connection broke: {error}"
    return str(error) or type(error).__name__
