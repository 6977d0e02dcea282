"""Bytes as text: the encoding by its mark, else UTF-8, else Windows-1252, as most old programs write."""

import codecs

from jobs.artifacts.reading.signatures import utf16_without_mark
from jobs.domain.text import replace_refused

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def decode(data: bytes) -> tuple[str, str]:
    """The text, with line ends as `\\n` and without what PostgreSQL refuses, and the name of its encoding."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None) or utf16_without_mark(data)
    if encoding is None:
        encoding = "utf-8" if _is_utf8(data) else "cp1252"
    text = data.decode(encoding, "replace")
    return replace_refused(text.replace("\r\n", "\n").replace("\r", "\n")), encoding


def _is_utf8(data: bytes) -> bool:
    """A character that the end of what was read cuts in two is no fault."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=False)
    except UnicodeDecodeError:
        return False
    return True


def first_line(text: str) -> str:
    """The first line with words in it, if it may be a title: it is short."""
    line = next((line.strip() for line in text.split("\n", 20)[:20] if line.strip(" -=#*_/")), "")
    return line.strip("#*_=/ ")[:200] if len(line) <= 120 else ""
