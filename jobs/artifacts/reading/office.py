"""Word, Excel, PowerPoint and OpenDocument files: archives of XML."""

import io
import posixpath
import warnings
from typing import IO, Any

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring, iterparse

from jobs.artifacts.limits import Limits
from jobs.artifacts.reading.archive import Archive
from jobs.artifacts.reading.document import Document, Table, Unreadable
from jobs.artifacts.reading.tables import as_table, table_text
from jobs.artifacts.reading.text import first_line
from jobs.domain.text import replace_refused

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
# So many times as many rows are counted as are kept.
_ROWS_COUNTED = 5


def read_zip(file: IO[bytes], name: str, limits: Limits) -> Document:
    """An archive: an office file by its parts, else one that is only listed. Raises `Unreadable`."""
    archive = Archive(file, limits)
    archive.check()
    names = set(archive.names)
    if "word/document.xml" in names:
        return _docx(archive, name, limits)
    if "xl/workbook.xml" in names:
        return _xlsx(archive, file, name, limits)
    if any(one.startswith("ppt/slides/slide") for one in names):
        return _pptx(archive, name, limits)
    if "content.xml" in names and "mimetype" in names:
        return _odf(archive, name, limits)
    document = Document(name, "ZIP archive", readable=False)
    document.facts = {"files": len(names)}
    document.text = "\n".join(posixpath.basename(one)[:200] for one in archive.names[:50])
    return document


def _xml(archive: Archive, part: str) -> Any:
    data = archive.read(part)
    if not data:
        raise Unreadable(f"the file has no part {part}")
    try:
        return fromstring(data, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, RecursionError) as error:
        raise Unreadable(f"its part {part} is no XML that is read here: {type(error).__name__}") from error


class _Lines:
    """Lines of text up to a number of characters."""

    def __init__(self, limits: Limits) -> None:
        self.left, self.parts = limits.text_chars, list[str]()

    def add(self, line: str) -> None:
        if line.strip() and self.left > 0:
            self.parts.append(line[: self.left])
            self.left -= len(line)

    @property
    def text(self) -> str:
        return replace_refused("\n".join(self.parts))


def _beginning(archive: Archive, part: str) -> Any:
    """The tree of a part that is longer than what is read, as far as it is read."""
    root = None
    try:
        for _event, element in iterparse(io.BytesIO(archive.read_beginning(part)), ("start",), forbid_dtd=True):
            root = element if root is None else root
    except ParseError:
        pass  # where it is cut off
    except (DefusedXmlException, ValueError, RecursionError) as error:
        raise Unreadable(f"its part {part} is no XML that is read here: {type(error).__name__}") from error
    if root is None:
        raise Unreadable(f"its part {part} is no XML that is read here")
    return root


def _docx(archive: Archive, name: str, limits: Limits) -> Document:
    document, lines = Document(name, "Word document"), _Lines(limits)
    if archive.is_longer("word/document.xml"):
        body = _beginning(archive, "word/document.xml")
        document.notes.append("only the beginning of it was read")
    else:
        body = _xml(archive, "word/document.xml")
    for element in body.iter():
        if element.tag == f"{_W}tbl":
            _docx_table(element, document, limits)
        if element.tag != f"{_W}p":
            continue
        text = _docx_text(element)
        lines.add(text)
        style = element.find(f"{_W}pPr/{_W}pStyle")
        style_name = "" if style is None else str(style.get(f"{_W}val", "")).lower()
        if text.strip() and style_name.startswith(("heading", "title", "berschrift", "titre")):
            document.headings.append(text.strip()[:200])
            document.title = document.title or text.strip()[:200]
    document.text = lines.text
    document.title = document.title or first_line(document.text)
    _core_title(archive, document)
    return document


def _docx_text(paragraph: Any) -> str:
    marks = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n"}
    return "".join((node.text or "") if node.tag == f"{_W}t" else marks.get(node.tag, "") for node in paragraph.iter())


def _docx_table(element: Any, document: Document, limits: Limits) -> None:
    def text(cell: Any) -> str:
        return " ".join(_docx_text(part) for part in cell.iter(f"{_W}p")).strip()[: limits.cell_chars]

    rows = [[text(cell) for cell in row.findall(f"{_W}tc")] for row in element.findall(f"{_W}tr")[: limits.rows]]
    if len(document.tables) < limits.sheets and len(rows) > 1:
        document.tables.append(as_table("", rows))


def _core_title(archive: Archive, document: Document) -> None:
    """The title among the file's properties, where somebody wrote one."""
    if "docProps/core.xml" not in archive.infos:
        return
    title = _xml(archive, "docProps/core.xml").findtext("{http://purl.org/dc/elements/1.1/}title")
    if title and title.strip() and title.strip().lower() not in ("untitled", "document", "word document"):
        document.title = replace_refused(title.strip()[:200])


def _xlsx(archive: Archive, file: IO[bytes], name: str, limits: Limits) -> Document:
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    # What the library reads whole is unpacked here before, within the limits: it asks for no size itself. Of a sheet it
    # reads the first rows alone, and of one that is longer than all of memory this process ends.
    for part in archive.names:
        if part.endswith((".xml", ".rels")) and not part.startswith("xl/worksheets/"):
            archive.read(part)
    document = Document(name, "Excel workbook")
    file.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = load_workbook(io.BytesIO(file.read()), read_only=True, data_only=False, keep_links=False)
            for sheet in book.worksheets[: limits.sheets]:
                document.tables.append(_sheet(sheet, limits))
    except (
        InvalidFileException,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        OSError,
        SyntaxError,
    ) as error:
        raise Unreadable(f"the workbook cannot be read: {type(error).__name__}: {error}") from error
    document.facts = {"sheets": len(book.sheetnames)}
    if any(table.count >= limits.rows * _ROWS_COUNTED - 1 for table in document.tables):
        document.notes.append(f"only the first {limits.rows * _ROWS_COUNTED:,} rows of a sheet were read")
    if any((sheet.max_column or 0) > limits.columns for sheet in book.worksheets[: limits.sheets]):
        document.notes.append(f"only the first {limits.columns:,} columns of a sheet were read")
    document.headings = [str(one)[:100] for one in book.sheetnames[: limits.sheets]]
    document.text = replace_refused("\n\n".join(table_text(table) for table in document.tables))[: limits.text_chars]
    return document


def _sheet(sheet: Any, limits: Limits) -> Table:
    rows, formulas, count = list[list[str]](), 0, 0
    # A sheet may say of itself that it has a million columns.
    for row in sheet.iter_rows(max_col=limits.columns, max_row=limits.rows * _ROWS_COUNTED, values_only=True):
        cells = ["" if value is None else str(value)[: limits.cell_chars] for value in row]
        if not any(cells):
            continue
        count += 1
        if len(rows) < limits.rows:
            formulas += sum(cell.startswith("=") for cell in cells)
            while cells and not cells[-1]:
                cells.pop()
            rows.append(cells)
    table = as_table(str(sheet.title), rows)
    table.count, table.formulas = max(count - (1 if table.head else 0), 0), formulas
    return table


def _pptx(archive: Archive, name: str, limits: Limits) -> Document:
    document, lines = Document(name, "PowerPoint presentation"), _Lines(limits)
    slides = [one for one in archive.names if one.startswith("ppt/slides/slide") and one.endswith(".xml")]
    for slide in sorted(slides, key=lambda one: (len(one), one))[: limits.pages]:
        texts = ["".join(node.text or "" for node in p.iter(f"{_A}t")) for p in _xml(archive, slide).iter(f"{_A}p")]
        first = next((text.strip() for text in texts if text.strip()), "")
        if first:
            document.headings.append(first[:200])
        for text in texts:
            lines.add(text)
    document.text, document.title = lines.text, document.headings[0] if document.headings else ""
    document.facts = {"slides": len(slides)}
    return document


def _odf(archive: Archive, name: str, limits: Limits) -> Document:
    body = _xml(archive, "content.xml")
    mimetype = archive.read("mimetype").decode("ascii", "replace")
    document, lines = Document(name, "OpenDocument file"), _Lines(limits)
    for element in body.iter():
        tag = str(element.tag).rpartition("}")[2]
        if tag in ("p", "h"):
            text = "".join(element.itertext())
            lines.add(text)
            if tag == "h" and text.strip():
                document.headings.append(text.strip()[:200])
        elif tag == "table" and len(document.tables) < limits.sheets and "spreadsheet" in mimetype:
            rows = [
                ["".join(cell.itertext())[: limits.cell_chars] for cell in list(row)[: limits.columns]]
                for row in list(element.iter("{urn:oasis:names:tc:opendocument:xmlns:table:1.0}table-row"))[
                    : limits.rows
                ]
            ]
            document.tables.append(as_table("", [row for row in rows if any(row)]))
    if "spreadsheet" in mimetype:
        document.kind = "OpenDocument spreadsheet"
    document.text, document.title = lines.text, document.headings[0] if document.headings else ""
    return document
