"""The text of a PDF's first pages."""

import logging
import re
from typing import IO

from jobs.artifacts.limits import Limits
from jobs.artifacts.reading.document import Document, Unreadable
from jobs.artifacts.reading.text import first_line
from jobs.domain.text import replace_refused

# Printers and editors put the name of a file there, or their own.
_NO_TITLE = re.compile(r"^(?:microsoft \w+ - |untitled|[\w.-]+\.\w{2,4}$)", re.I)


def read_pdf(file: IO[bytes], name: str, limits: Limits) -> Document:
    """A page that cannot be read is left out, and noted. Raises `Unreadable` for what is no PDF or has a password."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # its complaints about each object help nobody
    broken = (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OSError)
    document = Document(name, "PDF")
    try:
        reader = PdfReader(file, strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("the PDF is locked with a password")
        pages = len(reader.pages)
    except broken as error:
        raise Unreadable(f"the PDF cannot be read: {type(error).__name__}: {error}") from error
    document.facts = {"pages": pages}
    texts, left, failed = list[str](), limits.text_chars, 0
    for number in range(min(pages, limits.pages)):
        try:
            text = reader.pages[number].extract_text()[:left]
        except broken:
            failed += 1
            continue
        texts.append(text)
        left -= len(text)
        if left <= 0:
            break
    document.text = replace_refused("\n".join(texts))
    document.title = _title(reader, broken) or first_line(document.text)
    if failed:
        document.notes.append(f"{failed} of {pages} pages could not be read")
    if pages > limits.pages:
        document.notes.append(f"only the first {limits.pages} of {pages:,} pages were read")
    if not document.text.strip():
        document.notes.append("no text is in it: its pages may be images")
    return document


def _title(reader: object, broken: tuple[type[Exception], ...]) -> str:
    try:
        title = reader.metadata.title  # type: ignore[attr-defined]
    except broken:
        return ""
    return "" if not title or _NO_TITLE.search(str(title)) else replace_refused(str(title).strip()[:200])
