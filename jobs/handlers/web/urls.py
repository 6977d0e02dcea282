"""One spelling per page: canonical URLs, and which of them belong to the site being crawled."""

import re
from functools import lru_cache
from urllib.parse import urljoin, urlsplit, urlunsplit

from url_normalize import url_normalize

from jobs.handlers.web.limits import MAX_URL_CHARS

_TRACKING = re.compile(
    r"(?:utm_.*|dclid|fbclid|gad_source|gbraid|gclid|gclsrc|igshid|li_fat_id|mc_cid|mc_eid|mkt_tok|msclkid|oly_anon_id|"
    r"oly_enc_id|srsltid|ttclid|twclid|vero_id|wbraid|wickedid|yclid|_ga|_gl|_hsenc|_hsmi|_openstat)",
    re.IGNORECASE,
)
_HOST = re.compile(r"[a-z0-9._-]{1,253}|[0-9a-f:.]{2,45}(?:%25[a-z0-9._-]{1,40})?")
_DEFAULT_PORTS = {"http": 80, "https": 443}


@lru_cache(maxsize=32_768)
def canonical(url: str) -> str | None:
    """The one spelling of an absolute http(s) URL, or None if it is none, is too long, or cannot be read.

    Scheme and host in lower case, no default port, no dot segments, escapes in one form; no fragment, no tracking
    parameters; the other parameters sorted, because links name the same page in any order.
    """
    if len(url) > MAX_URL_CHARS:
        return None
    try:
        parts = urlsplit(url.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return None
        tidy = urlsplit(url_normalize(urlunsplit(parts._replace(query="", fragment=""))) or "")
        found = urlunsplit((tidy.scheme, tidy.netloc, tidy.path or "/", _query(parts.query), ""))
        if not _HOST.fullmatch(urlsplit(found).hostname or "") or not _is_port(urlsplit(found).port):
            return None
    except ValueError:  # UnicodeError, from names that IDNA refuses, is one too
        return None
    return found if len(found) <= MAX_URL_CHARS and found.isascii() else None


def resolve(base: str, link: str) -> str | None:
    """The canonical URL that `link`, found on a page with this base, leads to; None for what is no page (mailto:,
    …)."""
    try:
        return canonical(urljoin(base, link.strip()))
    except ValueError:
        return None


def origin(url: str) -> str:
    """Scheme, host and port, as in `https://example.com:8443`."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def host(url: str) -> str:
    """The host that politeness counts for, in lower case, without its port."""
    return urlsplit(url).hostname or ""


def site(url: str) -> tuple[str, int | None]:
    """What makes two URLs parts of one site: the host, and a port that is none of the defaults.
    http and https are the same site, and so are a name with `www.` and without."""
    parts = urlsplit(url)
    port = None if parts.port == _DEFAULT_PORTS.get(parts.scheme) else parts.port
    return (parts.hostname or "").removeprefix("www."), port


def _is_port(port: int | None) -> bool:
    return port is None or port > 0


def _query(query: str) -> str:
    kept = [part for part in query.split("&") if part and not _is_tracking(part.partition("=")[0])]
    return "&".join(sorted(_escape(part) for part in kept))


def _is_tracking(name: str) -> bool:
    return _TRACKING.fullmatch(name) is not None


def _escape(part: str) -> str:
    return "".join(char if "!" <= char <= "~" and char not in '"<>#' else _percent(char) for char in part)


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))
