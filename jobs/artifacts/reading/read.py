"""One file read: its content says what it is; its name is asked only where content cannot tell."""

import re
from typing import IO

from jobs.artifacts.limits import LIMITS, Limits
from jobs.artifacts.reading.code import language_of
from jobs.artifacts.reading.data import parse_json, parse_yaml
from jobs.artifacts.reading.document import Document, Table, Unreadable
from jobs.artifacts.reading.markup import read_broken_xml, read_html, read_xml
from jobs.artifacts.reading.office import read_zip
from jobs.artifacts.reading.pdf import read_pdf
from jobs.artifacts.reading.signatures import ZIP, binary_kind, is_pdf, is_text
from jobs.artifacts.reading.tables import as_table, read_csv, table_text
from jobs.artifacts.reading.text import decode, first_line

_HEAD_BYTES = 8_192
_HTML = re.compile(
    r"^\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*){0,3}<(?:!doctype\s+html|html|head|body|title|div|table|h1)\b",
    re.I | re.S,
)
_MARKDOWN_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+([^\n]{1,300})$", re.M)
_UNDERLINED = re.compile(r"^(\S[^\n]{2,100})\n(?:={3,200}|-{3,200}|~{3,200})$", re.M)
_YAML_START = re.compile(r"\A(?:---\s*\n)?(?:\s*#[^\n]*\n|\s*\n)*(?:[\w\"'./$-]+\s*:(?:\s|$)|- )", re.M)
_DATA_SUFFIXES = frozenset({"yml", "yaml"})
_PROSE_SUFFIXES = frozenset({"md", "markdown", "mdx", "rst", "adoc"})


def read(file: IO[bytes], name: str, limits: Limits = LIMITS) -> Document:
    """What is in a file that can be searched. Raises `Unreadable` with the reason, for people."""
    size = file.seek(0, 2)
    file.seek(0)
    head = file.read(_HEAD_BYTES)
    file.seek(0)
    if not head.strip(b"\x00 \t\r\n\xef\xbb\xbf") and (size <= _HEAD_BYTES or not head.strip(b" \t\r\n")):
        return Document(name, "empty file", readable=False)
    if is_pdf(head):
        return read_pdf(file, name, limits)
    if head.startswith(ZIP):
        return read_zip(file, name, limits)
    if (kind := binary_kind(head)) is not None:
        return Document(name, kind, readable=False)
    if not is_text(head):
        return Document(name, "binary file", readable=False)
    text, encoding = decode(file.read(limits.text_bytes))
    document = _read_text(text, name, limits, whole=size <= limits.text_bytes)
    document.facts["encoding"] = encoding
    if size > limits.text_bytes:
        document.notes.append(f"only the first {limits.text_bytes / 1e6:.0f} of {size / 1e6:,.0f} MB were read")
    return document


def _read_text(text: str, name: str, limits: Limits, *, whole: bool) -> Document:
    document = Document(name, "text", text=text[: limits.text_chars])
    start = text.lstrip("\ufeff \t\n")[:2_000]
    for attempt in (_as_json, _as_markup, _as_yaml, _as_table):
        if attempt(document, text, start, limits, whole):
            break
    else:
        _as_prose(document, text)
    return document


def _as_json(document: Document, text: str, start: str, limits: Limits, whole: bool) -> bool:
    if not start.startswith(("{", "[")):
        return False
    lines = [line for line in text.split("\n", 50)[:50] if line.strip()]
    try:
        document.data = parse_json(text if whole else _whole_entries(text, start), limits)
    except ValueError:
        document.data = None
    if document.data is None:
        try:
            document.data = [parse_json(line, limits) for line in (lines if whole else lines[:-1])]
        except ValueError:
            document.data = None
        if not isinstance(document.data, list) or not document.data or not isinstance(document.data[0], dict):
            document.data = None
            if not whole and re.match(r'[\[{]\s*["{\[]', start):
                document.kind = "JSON"
                return True
            return False
        document.kind = "JSON lines"
        return True
    document.kind = "JSON"
    return True


def _whole_entries(text: str, start: str) -> str:
    """The entries of a list that are whole, where the rest was not read. What is no list of objects stays broken."""
    return text[: text.rfind("},") + 1] + "]" if start.startswith("[") else text


def _as_markup(document: Document, text: str, start: str, limits: Limits, whole: bool) -> bool:
    if not start.startswith("<"):
        return False
    if document.suffix in _PROSE_SUFFIXES and not re.match(r"<(?:!doctype|html)\b", start, re.I):
        return False  # Markdown may begin with a comment, a picture, a heading in tags
    if _HTML.match(start):
        _become(document, read_html(text, document.name, limits))
        return True
    try:
        _become(document, read_xml(text, document.name, limits))
    except ValueError:
        if not re.match(r"<[?!a-zA-Z]", start):
            return False
        is_xml = start.startswith("<?xml") or document.suffix == "xml"
        _become(document, (read_broken_xml if is_xml else read_html)(text, document.name, limits))
    return True


def _become(document: Document, other: Document) -> None:
    vars(document).update(vars(other))


def _as_yaml(document: Document, text: str, start: str, limits: Limits, whole: bool) -> bool:
    named = document.suffix in _DATA_SUFFIXES
    if not named and (document.suffix in _PROSE_SUFFIXES or not _YAML_START.match(text[:3_000])):
        return False
    if not named and (len(text) > 500_000 or language_of(document.suffix, text) or not _mostly_pairs(text)):
        return False
    try:
        data = parse_yaml(text if whole else text[: text.rfind("\n")], limits)
        if len(text) > limits.yaml_chars:
            document.notes.append(
                f"only the first {limits.yaml_chars / 1e6:g} of {len(text) / 1e6:,.1f} million characters were read"
            )
    except ValueError:
        if named:
            document.kind = "YAML"
        return named
    if not isinstance(data, dict | list) or (not named and len(data) < 2):
        return False
    document.kind, document.data = "YAML", data
    return True


def _mostly_pairs(text: str) -> bool:
    """Do most lines look like YAML? A letter with `Dear Sir:` in it is none."""
    lines = [line for line in text.split("\n")[:200] if line.strip() and not line.lstrip().startswith("#")]
    fitting = sum(bool(re.match(r"\s*(?:- )*(?:[\w\"'./{}$-]+\s*:(?:\s|$)|- \S|---|\.\.\.$)", line)) for line in lines)
    return len(lines) >= 2 and fitting >= 0.8 * len(lines)


def _as_table(document: Document, text: str, start: str, limits: Limits, whole: bool) -> bool:
    named = document.suffix in ("csv", "tsv")
    if document.suffix in _PROSE_SUFFIXES or (not named and language_of(document.suffix, text)):
        return False
    table = read_csv(text, limits)
    if table is None or (not named and (not table.head or len(table.head) < 3 or len(table.rows) < 2)):
        return False
    if not named and re.search(r"^[ \t]*(?:Feature|Scenario|Given|#{1,3} )", text[:5_000], re.M):
        return False
    document.kind, document.tables = "CSV table" if "\t" not in start.split("\n")[0] else "TSV table", [table]
    document.text = table_text(table)[: limits.text_chars]
    if table.width:
        document.notes.append(f"only the first {limits.columns:,} of {table.width:,} columns were read")
    return True


def _as_prose(document: Document, text: str) -> None:
    language = language_of(document.suffix, text)
    if language:
        document.kind = f"{language} code"
        document.facts["language"] = language
        return
    headings = [one.strip(" #\t")[:200] for one in _MARKDOWN_HEADING.findall(text[:100_000])]
    underlined = [one.strip()[:200] for one in _UNDERLINED.findall(text[:100_000])]
    if document.suffix in _PROSE_SUFFIXES or len(headings) >= 2:
        document.kind = {"rst": "reStructuredText", "adoc": "AsciiDoc"}.get(document.suffix, "Markdown")
    if document.suffix == "adoc":
        headings += [one.strip()[:200] for one in re.findall(r"^={1,5}\s+(.+)$", text[:100_000], re.M)]
    document.headings = headings or underlined
    document.title = document.headings[0] if document.headings else first_line(text)
    document.tables += _markdown_tables(text)


def _markdown_tables(text: str) -> list[Table]:
    found, block = list[Table](), list[str]()
    for line in [*text[:100_000].split("\n"), ""]:
        if line.strip().startswith("|") and line.count("|") >= 3:
            block.append(line)
            continue
        if len(block) >= 3 and re.match(r"\s*\|[\s:|-]+\|?\s*$", block[1]):
            rows = [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in (block[0], *block[2:2_000])]
            found.append(as_table("", rows))
        block = []
    return found[:20]


__all__ = ["Unreadable", "read"]
