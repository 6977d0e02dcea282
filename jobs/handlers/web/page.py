"""What a page says: its title and main facts, and the links it holds.

No tree is built of the page. A tree builder that follows the HTML standard takes minutes, and more memory than a
machine has, for two megabytes written for that purpose (200,000 nested elements), and it runs where nothing can
interrupt it. One pass over the text finds the few tags that matter; the parser then reads their attributes from a flat
list of them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobs.handlers.web.urls import resolve

_START = re.compile(
    r"<(?:!--|(a|area|base|frame|iframe|link|meta|html|title|h1|script|style|textarea|xmp)(?=[\s/>]))", re.IGNORECASE
)
_ATTRIBUTES = re.compile(r"""((?:[^"'>]++|"[^"]*+"|'[^']*+')*+)>""")
_LONGEST_TAG = 8_192
_RAW = frozenset({"script", "style", "textarea", "xmp"})
_TEXT = frozenset({"title", "h1"})
_LONGEST_TEXT = 2_000
_INNER_TAG = re.compile(r"<[^<>]{0,500}>")
_NOT_SHOWN = re.compile(r"[\x00-\x20\x7f-\xa0\ud800-\udfff]+")
_NO_PAGES = ("mailto:", "javascript:", "tel:", "data:", "about:", "blob:", "ftp:", "file:", "sms:", "#")


@dataclass(slots=True)
class Page:
    """The main facts of one HTML page. `links` are canonical URLs, each once, in the page's order."""

    title: str | None = None
    description: str | None = None
    heading: str | None = None
    language: str | None = None
    canonical: str | None = None
    links: list[str] = field(default_factory=list)
    nofollow: int = 0
    links_cut: bool = False


def read_page(text: str, url: str, *, most_links: int) -> Page:
    """Reads what there is; a broken page gives what can be read of it. `url` is where the page was really found."""
    flat = LexborHTMLParser("".join(_flat_tags(text, most_links * 2)))
    page = Page()
    _read_facts(flat, page)
    base = _base(flat, url)
    page.canonical = _canonical(flat, base)
    _read_links(flat, page, base, most_links)
    return page


def clean(text: str | None, most: int) -> str | None:
    """`text` on one line, without what no page and no database can show, at most `most` characters; None for
    nothing."""
    tidy = _NOT_SHOWN.sub(" ", (text or "")[: most * 4]).strip()
    return (tidy if len(tidy) <= most else tidy[: most - 1] + "…") or None


def _flat_tags(text: str, most: int) -> Iterator[str]:
    """The tags that matter, each closed at once, so that the parser sees no nesting. Linear in the length of `text`:
    nothing is looked at twice, whatever is left open."""
    at, count = 0, 0
    while count < most and (start := _START.search(text, at)):
        name = (start[1] or "").lower()
        if not name:
            at = _after(text, "-->", start.end())
            continue
        tag = _ATTRIBUTES.match(text, start.end(), start.end() + _LONGEST_TAG)
        if tag is None:
            at = start.end() + _LONGEST_TAG  # an unfinished tag: to look into it again would take quadratic time
            continue
        at, inner = tag.end(), ""
        if name in _RAW:
            _, at = _until_closed(text, name, at, len(text))
            continue
        if name in _TEXT:
            inner, _ = _until_closed(text, name, at, at + _LONGEST_TEXT)
        yield _flat(name, tag[1], inner)
        count += 1


def _flat(name: str, attributes: str, inner: str) -> str:
    # `html`, `title` and frames mean something to a parser where they stand; a name of our own means nothing.
    text = _INNER_TAG.sub(" ", inner).replace("<", "&lt;")
    return f"<x-{name} {attributes}>{text}</x-{name}>"


def _after(text: str, what: str, at: int) -> int:
    found = text.find(what, at)
    return len(text) if found < 0 else found + len(what)


def _until_closed(text: str, name: str, at: int, end: int) -> tuple[str, int]:
    closed = re.compile(rf"</{name}", re.IGNORECASE).search(text, at, end)
    return (text[at : closed.start()], closed.end()) if closed else (text[at:end], min(end, len(text)))


def _read_facts(flat: LexborHTMLParser, page: Page) -> None:
    page.title = _text(flat, "x-title")
    page.heading = _text(flat, "x-h1")
    page.language = next((clean(found, 35) for node in flat.css("x-html") if (found := _get(node, "lang"))), None)
    for meta in flat.css("x-meta"):
        if _get(meta, "name").lower() == "description" and page.description is None:
            page.description = clean(_get(meta, "content"), 300)


def _base(flat: LexborHTMLParser, url: str) -> str:
    declared = next((found for node in flat.css("x-base") if (found := _get(node, "href"))), None)
    return (resolve(url, declared) if declared else None) or url


def _canonical(flat: LexborHTMLParser, base: str) -> str | None:
    for node in flat.css("x-link"):
        if "canonical" in _get(node, "rel").lower().split():
            return resolve(base, _get(node, "href"))
    return None


def _read_links(flat: LexborHTMLParser, page: Page, base: str, most: int) -> None:
    whole_page = _robots_say_nofollow(flat)
    found: dict[str, None] = {page.canonical: None} if page.canonical else {}
    for node in flat.css("x-a, x-area, x-frame, x-iframe"):
        link = (_get(node, "href") or _get(node, "src")).strip()
        if not link or link.lower().startswith(_NO_PAGES) or (target := resolve(base, link)) is None:
            continue
        if whole_page or "nofollow" in _get(node, "rel").lower().split():
            page.nofollow += 1
        elif len(found) >= most:
            page.links_cut = True
            break
        else:
            found[target] = None
    page.links = list(found)


def _robots_say_nofollow(flat: LexborHTMLParser) -> bool:
    said = (_get(meta, "content").lower() for meta in flat.css("x-meta") if _get(meta, "name").lower() == "robots")
    return any("nofollow" in words or "none" in words for words in said)


def _text(flat: LexborHTMLParser, selector: str) -> str | None:
    node = flat.css_first(selector)
    return clean(node.text(), 200) if node else None


def _get(node: LexborNode, name: str) -> str:
    return node.attributes.get(name) or ""
