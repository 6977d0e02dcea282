"""A small documentation site on loopback, for the demo's crawls to have something real to read.

It has what real sites have: a sitemap, robots.txt, a redirect, a link that leads nowhere, a slow page.
"""

import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

HOST = "127.0.0.1"
_SECTIONS = {
    "guide": ("Getting started", "Accounts", "Projects", "Environments", "Schedules", "Alerts", "Exports", "Limits"),
    "reference": ("Commands", "Settings", "Events", "Errors", "Permissions", "Formats", "Webhooks", "Tokens"),
    "recipes": ("Nightly run", "Login form", "File upload", "Shopping cart", "Long table", "Date picker", "Search"),
    "releases": ("4.2", "4.1", "4.0", "3.9", "3.8", "3.7", "3.6", "3.5", "3.4", "3.3"),
}
_SLOW_SECONDS = 1.5


def pages(base: str) -> dict[str, str]:
    """Path → HTML of every page. `base` is the site's address without a slash at its end."""
    made = {"/": _page("Handbook", [(f"/{section}/", section.title()) for section in _SECTIONS] + [("/gone/", "Blog")])}
    for section, titles in _SECTIONS.items():
        links = [(f"/{section}/{_slug(title)}/", title) for title in titles]
        made[f"/{section}/"] = _page(section.title(), links)
        for number, (path, title) in enumerate(links):
            made[path] = _page(title, [links[number - 1], links[(number + 1) % len(links)], (f"/{section}/", "Up")])
    made["/sitemap.xml"] = _sitemap(base, [path for path in made if path != "/"])
    made["/robots.txt"] = f"User-agent: *\nDisallow: /private/\nSitemap: {base}/sitemap.xml\n"
    return made


def serve(port: int) -> ThreadingHTTPServer:
    """Serves the site in a thread of its own on `port`, or on a free one if it is taken. Stop it with `shutdown()`."""
    try:
        server = ThreadingHTTPServer((HOST, port), _Handler)
    except OSError:
        server = ThreadingHTTPServer((HOST, 0), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="demo-site", daemon=True).start()
    return server


def address(server: ThreadingHTTPServer) -> str:
    return f"http://{HOST}:{server.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        odd = _ODD.get(path)
        if odd is not None:
            odd(self)
            return
        text = pages(f"http://{self.headers.get('Host', HOST)}").get(path)
        self.answer(200 if text is not None else 404, text or _page("Not found", []), _kind(path))

    do_HEAD = do_GET

    def answer(self, status: int, text: str, kind: str = "text/html; charset=utf-8", location: str = "") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silent: the crawl's own log says what was fetched."""


def _moved(handler: _Handler) -> None:
    handler.answer(301, "", location="/guide/")


def _slow(handler: _Handler) -> None:
    time.sleep(_SLOW_SECONDS)
    handler.answer(200, _page("A slow report", [("/", "Home")]))


def _broken(handler: _Handler) -> None:
    handler.answer(503, _page("Under maintenance", []))


_ODD: dict[str, Callable[[_Handler], None]] = {"/docs/": _moved, "/reports/slow/": _slow, "/maintenance/": _broken}


def _page(title: str, links: list[tuple[str, str]]) -> str:
    always = [("/", "Home"), ("/docs/", "Docs"), ("/reports/slow/", "Report")]
    items = "".join(f'<li><a href="{href}">{text}</a></li>' for href, text in [*always, *links])
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} · Handbook</title></head>'
        f"<body><h1>{title}</h1><p>{title}: how it works, and what to do when it does not.</p>"
        f"<ul>{items}</ul></body></html>"
    )


def _sitemap(base: str, paths: list[str]) -> str:
    entries = "".join(f"<url><loc>{base}{path}</loc></url>" for path in paths)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    )


def _slug(title: str) -> str:
    return title.lower().replace(" ", "-")


def _kind(path: str) -> str:
    return {"/sitemap.xml": "application/xml", "/robots.txt": "text/plain; charset=utf-8"}.get(
        path, "text/html; charset=utf-8"
    )
