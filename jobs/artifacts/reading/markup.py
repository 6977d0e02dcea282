"""HTML and XML as text with headings and tables."""

import re
from collections import Counter
from typing import Any

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring
from selectolax.lexbor import LexborHTMLParser

from jobs.artifacts.limits import Limits
from jobs.artifacts.reading.document import Document, Unreadable
from jobs.artifacts.reading.tables import as_table
from jobs.domain.text import replace_refused

_MOST_NAMED = 20_000
_TAG = re.compile(r"<(/?)([a-z][\w-]{0,30})")
# Elements that need no end.
_OPEN = frozenset((
    "area", "base", "body", "br", "col", "colgroup", "dd", "dt", "embed", "head", "hr", "html", "img", "input", "li", "link",
    "meta", "option", "p", "param", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
))  # fmt: skip
_SPACES = re.compile(r"[ \t\f\v]+")


def read_html(text: str, name: str, limits: Limits) -> Document:
    """What a reader sees: scripts and styles are left out."""
    if _unclosed(text) > limits.unclosed:
        raise Unreadable(f"more than {limits.unclosed:,} of its elements are not closed")
    tree = LexborHTMLParser(text)
    document = Document(name, "HTML page")
    title = tree.css_first("title")
    document.title = _line(title.text()) if title else ""
    generator = tree.css_first('meta[name="generator"]')
    document.facts["generator"] = _line((generator.attributes.get("content") or "") if generator else "")
    document.facts["scripts"] = " ".join(
        _line(node.attributes.get("src") or node.text()[:300]) for node in tree.css("script")[:20]
    )
    for node in tree.css("script, style, noscript, template"):
        node.decompose()
    document.headings = [line for node in tree.css("h1, h2, h3")[:200] if (line := _line(node.text(separator=" ")))]
    document.title = document.title or (document.headings[0] if document.headings else "")
    for table in tree.css("table")[: limits.sheets]:
        rows = [
            [_line(cell.text(separator=" "))[: limits.cell_chars] for cell in row.css("th, td")[: limits.columns]]
            for row in table.css("tr")[: limits.rows]
        ]
        if len(rows) > 1:
            document.tables.append(as_table("", rows))
    body = tree.body
    seen = body.text(separator="\n") if body else ""
    lines = (line for raw in seen.split("\n") if (line := _SPACES.sub(" ", raw).strip()))
    document.text = replace_refused("\n".join(lines))[: limits.text_chars]
    return document


def _unclosed(text: str) -> int:
    """Each name by itself: ends of what was never begun make up for nothing."""
    tags = Counter(_TAG.findall(text.lower()))
    return sum(max(0, n - tags["/", name]) for (mark, name), n in tags.items() if not mark and name not in _OPEN)


def read_broken_xml(text: str, name: str, limits: Limits) -> Document:
    """XML that is cut off or wrong: how it begins, and what stands between its tags."""
    document = Document(name, "XML document")
    tag = re.search(r"<(?:[\w.-]+:)?([\w.-]+)[\s/>]", text[:2_000])
    document.root = tag[1] if tag else ""
    lines = (line for raw in re.sub(r"<[^<>]*>?", "\n", text).split("\n") if (line := _SPACES.sub(" ", raw).strip()))
    document.text = replace_refused("\n".join(lines))[: limits.text_chars]
    return document


def _line(text: str) -> str:
    return replace_refused(" ".join(text.split()))[:300]


def read_xml(text: str, name: str, limits: Limits) -> Document:
    """Raises ValueError when it is no XML, `Unreadable` for entities that would unfold."""
    try:
        tree = fromstring(text.encode("utf-8"))
    except DefusedXmlException as error:
        raise Unreadable(f"the XML declares entities, which are not unfolded here: {type(error).__name__}") from error
    except (ParseError, RecursionError) as error:
        raise ValueError(f"it is no XML: {error}") from error
    document = Document(name, "XML document")
    document.root = str(tree.tag).rpartition("}")[2][:100]
    document.facts["namespace"] = str(tree.tag).rpartition("}")[0].lstrip("{")[:200]
    document.facts["attributes"] = {str(key)[:50]: str(value)[:200] for key, value in list(tree.attrib.items())[:20]}
    tags: dict[str, int] = {}
    parts, left = list[str](), limits.text_chars
    for element in tree.iter():
        tag = str(element.tag).rpartition("}")[2][:60]
        tags[tag] = tags.get(tag, 0) + 1
        if len(document.named) < _MOST_NAMED:
            document.named += _named(tag, element)
        if left > 0 and element.text and (piece := element.text.strip()[:2_000]):
            parts.append(piece)
            left -= len(piece)
    document.facts["tags"] = dict(sorted(tags.items(), key=lambda item: -item[1])[:60])
    document.text = "\n".join(parts)
    return document


def _named(tag: str, element: Any) -> list[tuple[str, str]]:
    """What stands in an element under its own name, its attributes' names, or the name that an attribute gives it."""
    text = (element.text or "").strip()[:400]
    pairs = [(str(key).rpartition("}")[2][:60], str(value)[:400]) for key, value in element.attrib.items()]
    given = [value for key, value in pairs if key in ("name", "key", "id")]
    values = [value for key, value in pairs if key == "value"]
    return [(tag, text), *pairs, *((name[:60], value) for name in given for value in (text, *values))]
