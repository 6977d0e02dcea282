"""Bytes to text, the way browsers choose: byte order mark, header, the page's own word, then what fits."""

import codecs
import re

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:+-]{1,40})", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,300}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:+-]{1,40})", re.IGNORECASE)
_XML = re.compile(rb"^\s{0,9}<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([\w.:+-]{1,40})", re.IGNORECASE)

# Labels that pages use for a smaller set than they write in.
_WIDER = {"iso8859-1": "cp1252", "ascii": "cp1252", "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030"}
_NOT_TEXT = frozenset({"base64", "bz2", "hex", "quopri", "rot13", "uu", "zlib", "idna", "punycode"})


def decode(body: bytes, content_type: str = "") -> tuple[str, str]:
    """The text of a page and the name of the encoding that was used. Bytes that do not fit become U+FFFD."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace"), name
    name = _declared(body, content_type) or _guessed(body)
    return body.decode(name, "replace"), name


def _declared(body: bytes, content_type: str) -> str | None:
    if (named := _HEADER.search(content_type)) and (found := _known(named[1])):
        return found
    head = body[:2048]
    for pattern in (_META, _XML):
        if named_in_page := pattern.search(head):
            found = _known(named_in_page[1].decode("ascii", "replace"))
            # A page whose bytes we can read as ASCII so far is not in UTF-16, whatever it says.
            return "utf-8" if found and found.startswith("utf-16") else found
    return None


def _known(label: str) -> str | None:
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    return None if name in _NOT_TEXT else _WIDER.get(name, name)


def _guessed(body: bytes) -> str:
    if _looks_utf16(body[:200], zero_at=1):
        return "utf-16-le"
    if _looks_utf16(body[:200], zero_at=0):
        return "utf-16-be"
    try:
        # A cut page may end within a character: an incremental decoder takes that as unfinished, not as wrong.
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _looks_utf16(head: bytes, *, zero_at: int) -> bool:
    pairs = len(head) // 2
    return pairs >= 8 and head[zero_at::2].count(0) > pairs * 0.8
