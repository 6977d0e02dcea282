"""A summary in a few sentences: what the file is, then how it begins. No value of a secret is repeated."""

import re
from typing import Any

from jobs.artifacts.analysis.counts import counted
from jobs.artifacts.analysis.env import env_names
from jobs.artifacts.analysis.redact import redacted
from jobs.artifacts.doctypes import DocType
from jobs.artifacts.reading.document import Document
from jobs.domain.text import plural

LONGEST = 600
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-Þ\d\"'„«(])")
_LINK = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\n]{0,500}\)")
# A line of a table of contents.
_TO_A_PART = re.compile(r"^[ \t]*(?:[-*]|\d+\.)?[ \t]*\[[^\]\n]{1,200}\]\(#", re.M)
_METHODS = frozenset({"get", "put", "post", "delete", "patch", "options", "head", "trace"})


def summarise(document: Document, doc_type: DocType) -> str:
    """At most 600 characters."""
    if document.kind == "empty file":
        return "An empty file."
    if not document.readable:
        return _unread(document)
    if doc_type is DocType.ENV_CONFIG:
        return _env(document)
    parts = [
        _what(document, doc_type),
        *_begin(document),
        *(f"{note[:1].upper()}{note[1:]}." for note in document.notes),
    ]
    return _cut(redacted(" ".join(part for part in parts if part)))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rsplit(" ", 1)[0] + "…"


def _unread(document: Document) -> str:
    article = "An" if document.kind[:1].lower() in "aeio" else "A"
    files = document.facts.get("files")
    if files is not None:
        return f"A ZIP archive of {files:,} file{'s' if files != 1 else ''}; what is in them was not read."
    said = f", although it is named .{document.suffix}" if document.suffix in _TEXT_SUFFIXES else ""
    return f"{article} {document.kind}{said}. It holds no text that is read here."


_TEXT_SUFFIXES = frozenset(
    {"txt", "md", "csv", "json", "yml", "yaml", "pdf", "docx", "xlsx", "html", "xml", "feature", "py", "js", "ts"}
)


def _env(document: Document) -> str:
    names = env_names(document) or []
    shown = ", ".join(name[:60] for name in names[:12])
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return f"An environment file that sets {plural(len(names), 'variable')}: {shown}{more}. Values are not shown."


def _what(document: Document, doc_type: DocType) -> str:
    data = document.data
    many = counted(document, doc_type)
    if doc_type is DocType.API_SPEC and isinstance(data, dict):
        return _api(data, many)
    if doc_type is DocType.TEST_CASES and document.facts.get("language") == "Gherkin":
        feature = re.search(r"^[ \t]*[\w\u00c0-\u017f]+\s*:\s*(.+)$", document.text, re.M)
        return f"Gherkin feature {_quoted(feature[1] if feature else '')} with {counted(document, doc_type)}."
    if document.tables and (
        document.kind.endswith("table") or document.kind in ("Excel workbook", "OpenDocument spreadsheet")
    ):
        return _tables(document)
    head = document.kind[:1].upper() + document.kind[1:]
    counts = [plural(document.facts[name], name[:-1]) for name in ("pages", "slides") if name in document.facts]
    counts += [many] if many else []
    titled = f" {_quoted(document.title)}" if document.title and document.kind not in ("JSON", "YAML") else ""
    if isinstance(data, list):
        return f"{head} of {plural(len(data), 'entry', 'entries')}{_keys(data)}."
    if isinstance(data, dict):
        keys = ", ".join(_key(key, value) for key, value in list(data.items())[:8])
        return f"{head}{f' of {many}' if many else ''} with the keys {keys}."
    if document.facts.get("language"):
        names = re.findall(
            r"(?:\bdef\s+|\bfunction\s+|\bclass\s+|(?:test|it|describe)\(\s*['\"`])([^'\"`(\n:{]{3,70})", document.text
        )
        told = f": {'; '.join(name.strip() for name in names[:5])}" if names else ""
        lines = plural(document.text.count(chr(10)) + 1, "line")
        return f"{head}, {lines}{f', {many}' if many else ''}{told}."
    if document.root:
        titled = f", {document.root}"
    return f"{head}{titled}{', ' + ', '.join(counts) if counts else ''}."


def _key(key: Any, value: Any) -> str:
    """A list is told with its length."""
    return f"{str(key)[:40]} ({len(value):,})" if isinstance(value, list) else str(key)[:40]


def _api(data: dict[Any, Any], requests: str) -> str:
    info = _object(data.get("info"))
    title = str(info.get("title") or info.get("name") or "")[:120]
    version = next(
        (
            f"{word} {data[key]}"[:30]
            for key, word in (("openapi", "OpenAPI"), ("swagger", "Swagger"), ("asyncapi", "AsyncAPI"))
            if key in data
        ),
        "API description",
    )
    paths = _object(data.get("paths"))
    operations = sum(str(verb).lower() in _METHODS for one in paths.values() if isinstance(one, dict) for verb in one)
    shown = ", ".join(str(path)[:60] for path in list(paths)[:5])
    many = f" {plural(len(paths), 'path')}, {plural(operations, 'operation')}: {shown}." if paths else ""
    many = many or (f" {requests}." if requests else "")
    described = " ".join(str(info.get("description") or "").split())[:200]
    return f"{version} of {_quoted(title)}.{many} {described}".strip()


def _object(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _tables(document: Document) -> str:
    table = max(document.tables, key=lambda one: one.count)
    columns = ", ".join(cell[:40] for cell in table.head[:10] if cell and not cell.startswith("="))
    many = f" of {plural(len(document.tables), 'sheet')}" if document.kind == "Excel workbook" else ""
    named = f" Columns: {columns}." if columns else ""
    width = table.width or max(len(table.head), len(table.rows[0]) if table.rows else 0)
    return f"{document.kind}{many}, {plural(table.count, 'row')} and {plural(width, 'column')}.{named}"


def _keys(data: list[Any]) -> str:
    first = data[0] if data and isinstance(data[0], dict) else {}
    return f" with {', '.join(str(key)[:40] for key in list(first)[:8])}" if first else ""


def _begin(document: Document) -> list[str]:
    """The first sentences that are sentences."""
    if (
        document.data is not None
        or document.tables
        and document.kind.endswith(("table", "workbook"))
        or document.facts.get("language")
    ):
        return []
    found: list[str] = []
    # An element of XML is by itself.
    between = r"\n" if document.root else r"\n\s*\n|\n(?=[#*|-])"
    for paragraph in re.split(between, document.text[:20_000]):
        line = _LINK.sub(r"\1", " ".join(paragraph.split())).lstrip("#>*-=/ ").strip()
        if (
            paragraph.lstrip().startswith(("|", "```", "#"))
            or len(line) < 40
            or " " not in line
            or line == document.title
            or _TO_A_PART.search(paragraph)
        ):
            continue
        for sentence in _SENTENCE.split(line):
            found.append(sentence[:300])
            if len(found) == 3:
                return found
    return found


def _quoted(text: str) -> str:
    text = " ".join(text.split())[:120]
    return f"“{text}”" if text else "without a title"
