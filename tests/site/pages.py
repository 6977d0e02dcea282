"""What each address of the test site answers."""

import gzip
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.site.server import Site

SPECIAL_LINKS = {
    "chain": "/redirect/chain/3",
    "chain-end": "/chain-end",
    "redirect-loop": "/redirect/loop/a",
    "off-site": "/redirect/off-site",
    "to-private": "/redirect/private",
    "to-metadata": "/redirect/metadata",
    "missing": "/missing",
    "error": "/error",
    "busy": "/busy",
    "loop": "/loop/a",
    "calendar": "/calendar/1",
    "big": "/big",
    "slow": "/slow",
    "latin-1": "/latin-1",
    "shift-jis": "/shift-jis",
    "utf-16": "/utf-16",
    "silent": "/silent",
    "trickle": "/trickle",
    "hang-up": "/hang-up",
    "image": "/image.png",
    "binary": "/archive.bin",
    "private": "/private/secret",
    "broken": "/broken",
    "base": "/base/page",
    "nofollow": "/nofollow",
    "deep": "/deep",
    "packed": "/packed",
    "packed-bomb": "/packed-bomb",
}


def answer(request: Any, site: "Site") -> None:
    """Finds what answers this path: an exact one, else the longest prefix that ends with a slash, else 404."""
    path = request.path.partition("?")[0]
    found = _EXACT.get(path)
    if found is None:
        prefix = next((known for known in _PREFIXES if path.startswith(known)), None)
        found = _PREFIXES[prefix] if prefix else _missing
    found(request, site)


def html(title: str, *links: str, more: str = "") -> bytes:
    """A page of ordinary shape."""
    items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>{title}</title><meta name="description" content="About {title}">'
        f"</head><body><h1>{title}</h1><ul>{items}</ul>{more}</body></html>"
    ).encode()


def _start(request: Any, site: "Site") -> None:
    special = [SPECIAL_LINKS[name] for name in site.special]
    first = [f"/page/{number}" for number in range(min(site.pages, 10))]
    request.send(site.start_status, html("Start", *special, *first))


def _page(request: Any, site: "Site") -> None:
    number = int(request.path.rpartition("/")[2].partition("?")[0] or 0)
    if number >= site.pages:
        return _missing(request, site)
    site.closed.wait(site.page_seconds)
    near = [n for n in (number + 1, number * 2 + 10, number * 2 + 11) if n < site.pages]
    request.send(200, html(f"Page {number}", "/", *(f"/page/{n}#part" for n in near)))


def _robots(request: Any, site: "Site") -> None:
    delay = f"Crawl-delay: {site.crawl_delay}\n" if site.crawl_delay is not None else ""
    usual = f"User-agent: *\nDisallow: /private/\n{delay}\nSitemap: {site.url}/sitemap-index.xml\n"
    request.send(site.robots_status, (usual if site.robots is None else site.robots).encode(), "text/plain")


def _urlset(urls: list[str]) -> bytes:
    entries = "".join(f"<url><loc>{url}</loc><lastmod>2026-01-01</lastmod></url>" for url in urls)
    return (
        f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode()
    )


def _sitemap(request: Any, site: "Site") -> None:
    if not site.sitemap:
        return _missing(request, site)
    urls = [f"{site.url}/page/{number}" for number in range(site.pages)]
    request.send(200, _urlset([*urls, f"{site.url}/only-in-sitemap", "http://elsewhere.example/x"]), "application/xml")


def _sitemap_index(request: Any, site: "Site") -> None:
    if not site.sitemap:
        return _missing(request, site)
    names = ("sitemap.xml.gz", "sitemap-broken.xml", "sitemap-bomb.xml", "sitemap-bomb.xml.gz", "sitemap-index.xml")
    entries = "".join(f"<sitemap><loc>{site.url}/{name}</loc></sitemap>" for name in names)
    request.send(200, f"<sitemapindex>{entries}</sitemapindex>".encode(), "application/xml")


def _sitemap_gz(request: Any, site: "Site") -> None:
    request.send(200, gzip.compress(_urlset([f"{site.url}/from-gz"])), "application/gzip")


def _sitemap_broken(request: Any, site: "Site") -> None:
    text = f"<urlset><url><loc>{site.url}/from-broken?a=1&b=2</loc></url><url><loc>{site.url}/from-broken-2</lo"
    request.send(200, text.encode(), "application/xml")


def _sitemap_bomb(request: Any, site: "Site") -> None:
    lines = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    text = f'<!DOCTYPE u [<!ENTITY l0 "lol">{lines}]><urlset><url><loc>{site.url}/bomb?&l9;</loc></url></urlset>'
    request.send(200, text.encode(), "application/xml")


def _sitemap_bomb_gz(request: Any, site: "Site") -> None:
    head = f"<urlset><url><loc>{site.url}/from-bomb</loc></url>".encode()
    request.send(200, gzip.compress(head, 1) + _packed_spaces(BOMB_BYTES), "application/gzip")


BOMB_BYTES = 50_000_000


@cache
def _packed_spaces(count: int) -> bytes:
    """Packed once: packing takes longer than a test gives a page to answer."""
    return gzip.compress(b"<title>Bomb</title>" + b" " * count, 6)


def _chain(request: Any, site: "Site") -> None:
    left = int(request.path.rpartition("/")[2])
    target = f"/redirect/chain/{left - 1}" if left > 1 else "/chain-end"
    request.send(302, b"", Location=target)


def _redirect_to(target: str) -> Callable[[Any, "Site"], None]:
    return lambda request, site: request.send(301, b"", Location=target)


def _busy(request: Any, site: "Site") -> None:
    if site.counts["/busy"] <= site.busy_times:
        request.send(429, html("Busy"), Retry_After=site.retry_after)
    else:
        request.send(200, html("No longer busy"))


def _calendar(request: Any, site: "Site") -> None:
    day = int(request.path.rpartition("/")[2].partition("?")[0])
    request.send(200, html(f"Day {day}", f"/calendar/{day + 1}", f"/calendar/{day + 2}"))


def _big(request: Any, site: "Site") -> None:
    filler = b"<p>" + b"x" * 9_993 + b"</p>\n"
    request.send(200, html("Big", "/after-big", more=(filler * 500).decode() + '<a href="/beyond-the-cut">far</a>'))


def _slow(request: Any, site: "Site") -> None:
    site.closed.wait(site.slow_seconds)
    request.send(200, html("Slow"))


def _silent(request: Any, site: "Site") -> None:
    site.closed.wait(120)
    request.close_connection = True


def _trickle(request: Any, site: "Site") -> None:
    request.send_response(200)
    request.send_header("Content-Type", "text/html")
    request.send_header("Content-Length", "1000000")
    request.end_headers()
    request.wfile.flush()
    while not site.closed.wait(0.1):
        request.wfile.write(b"x")
        request.wfile.flush()


def _hang_up(request: Any, site: "Site") -> None:
    request.close_connection = True


def _in(encoding: str, text: str, content_type: str, meta: str = "") -> Callable[[Any, "Site"], None]:
    body = f"<html><head>{meta}<title>{text}</title></head><body><a href='/page/0'>x</a></body></html>".encode(encoding)
    return lambda request, site: request.send(200, body, content_type)


def _broken(request: Any, site: "Site") -> None:
    body = (
        b"<html><title>Broken &amp; <b>bent</b><body><p><a href=/page/1>one<a HREF='/page/2?utm_source=x&b=2&a=1'>two"
        b"<!-- <a href=/in-comment>no</a> --><script>'<a href=/in-script>'</script><table><a href=/page/3"
        b' title="a > b">three</table></div></div><a href="mailto:a@example.com">m</a><a href="java\nscript:x">j</a>'
        b"<a href=http://[bad>b</a><a href='/page/4"
    )
    request.send(200, body)


def _base(request: Any, site: "Site") -> None:
    body = (
        b'<base href="/elsewhere/"><title>Base</title><a href="here">x</a><link rel="canonical" href="/base/canonical">'
    )
    request.send(200, body)


def _nofollow(request: Any, site: "Site") -> None:
    request.send(200, b'<title>No</title><a rel="ugc NoFollow" href="/not-followed">x</a><a href="/followed">y</a>')


def _deep(request: Any, site: "Site") -> None:
    request.send(200, b"<title>Deep</title>" + b"<div><b id=x>" * 100_000 + b'<a href="/bottom">x</a>')


def _packed(request: Any, site: "Site") -> None:
    request.send(200, gzip.compress(html("Packed", "/from-packed")), Content_Encoding="gzip")


def _packed_bomb(request: Any, site: "Site") -> None:
    request.send(200, _packed_spaces(BOMB_BYTES), Content_Encoding="gzip")


def _bytes(content_type: str) -> Callable[[Any, "Site"], None]:
    return lambda request, site: request.send(200, b"\x89PNG\x00" * 20_000, content_type)


def _plain(request: Any, site: "Site") -> None:
    request.send(200, html(request.path.strip("/")))


def _missing(request: Any, site: "Site") -> None:
    request.send(404, html("Not found"))


_EXACT: dict[str, Callable[[Any, "Site"], None]] = {
    "/": _start,
    "/robots.txt": _robots,
    "/sitemap.xml": _sitemap,
    "/sitemap-index.xml": _sitemap_index,
    "/sitemap.xml.gz": _sitemap_gz,
    "/sitemap-broken.xml": _sitemap_broken,
    "/sitemap-bomb.xml": _sitemap_bomb,
    "/sitemap-bomb.xml.gz": _sitemap_bomb_gz,
    "/redirect/loop/a": _redirect_to("/redirect/loop/b"),
    "/redirect/loop/b": _redirect_to("/redirect/loop/a"),
    "/redirect/off-site": _redirect_to("http://elsewhere.example/there"),
    "/redirect/private": _redirect_to("http://10.0.0.1/"),
    "/redirect/metadata": _redirect_to("http://169.254.169.254/latest/meta-data/"),
    "/error": lambda request, site: request.send(500, html("Error")),
    "/busy": _busy,
    "/loop/a": lambda request, site: request.send(200, html("Loop a", "/loop/b", "/loop/a?#x")),
    "/loop/b": lambda request, site: request.send(200, html("Loop b", "/loop/a#again", "/loop/../loop/b")),
    "/big": _big,
    "/slow": _slow,
    "/silent": _silent,
    "/trickle": _trickle,
    "/hang-up": _hang_up,
    "/latin-1": _in("latin-1", "Größe café", "text/html; charset=ISO-8859-1"),
    "/shift-jis": _in("shift_jis", "日本語のページ", "text/html", '<meta charset="Shift_JIS">'),
    "/utf-16": _in("utf-16", "Ελληνικά", "text/html"),
    "/image.png": _bytes("image/png"),
    "/archive.bin": _bytes("application/octet-stream"),
    "/private/secret": _plain,
    "/broken": _broken,
    "/base/page": _base,
    "/nofollow": _nofollow,
    "/deep": _deep,
    "/packed": _packed,
    "/packed-bomb": _packed_bomb,
}
for _path in (
    "chain-end", "only-in-sitemap", "from-gz", "from-broken", "from-broken-2", "from-bomb", "after-big",
    "beyond-the-cut", "from-packed", "followed", "not-followed", "bottom", "elsewhere/here", "base/canonical",
):  # fmt: skip
    _EXACT[f"/{_path}"] = _plain
_PREFIXES: dict[str, Callable[[Any, "Site"], None]] = {
    "/page/": _page,
    "/redirect/chain/": _chain,
    "/calendar/": _calendar,
}

_packed_spaces(BOMB_BYTES)
