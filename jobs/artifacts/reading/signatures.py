"""What a file is by its first bytes, whatever its name says."""

import codecs

# (offset, bytes, what people call it)
_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "PNG image"),
    (0, b"\xff\xd8\xff", "JPEG image"),
    (0, b"GIF8", "GIF image"),
    (8, b"WEBP", "WebP image"),
    (8, b"WAVE", "WAV sound"),
    (8, b"AVI ", "AVI video"),
    (0, b"BM", "BMP image"),
    (0, b"II*\x00", "TIFF image"),
    (0, b"MM\x00*", "TIFF image"),
    (0, b"\x00\x00\x01\x00", "icon"),
    (4, b"ftyp", "MP4 video"),
    (0, b"\x1aE\xdf\xa3", "Matroska video"),
    (0, b"ID3", "MP3 sound"),
    (0, b"OggS", "Ogg sound"),
    (0, b"fLaC", "FLAC sound"),
    (0, b"\x7fELF", "ELF program"),
    (0, b"MZ", "Windows program"),
    (0, b"\xca\xfe\xba\xbe", "Java class or macOS program"),
    (0, b"\xcf\xfa\xed\xfe", "macOS program"),
    (0, b"\x00asm", "WebAssembly module"),
    (0, b"\x1f\x8b", "gzip archive"),
    (0, b"BZh", "bzip2 archive"),
    (0, b"\xfd7zXZ\x00", "xz archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (0, b"Rar!\x1a\x07", "RAR archive"),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard archive"),
    (257, b"ustar", "tar archive"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Microsoft Office file"),
    (0, b"SQLite format 3\x00", "SQLite database"),
    (0, b"PAR1", "Parquet file"),
    (0, b"wOF", "web font"),
    (0, b"\x00\x01\x00\x00\x00", "TrueType font"),
)
# Short ones that a text may begin with, too.
_MAYBE_TEXT = frozenset({b"BM", b"MZ", b"ID3", b"BZh"})
ZIP = (b"PK\x03\x04", b"PK\x05\x06")


def is_pdf(head: bytes) -> bool:
    """Readers accept some bytes before the mark."""
    return b"%PDF-" in head[:1024] and (head.startswith(b"%PDF-") or not is_text(head[:1024].split(b"%PDF-")[0]))


def binary_kind(head: bytes) -> str | None:
    """The name of a format that is no text; None when no signature fits."""
    for offset, mark, name in _SIGNATURES:
        if head[offset : offset + len(mark)] == mark and not (mark in _MAYBE_TEXT and is_text(head)):
            return name
    return None


_TEXT_CONTROLS = frozenset(b"\t\n\r\x0c\x1b\x08")


def is_text(head: bytes) -> bool:
    """Does it look like text in some encoding? A byte order mark says so; NULs and many controls say no."""
    if head.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return True
    if not head:
        return False
    if b"\x00" in head:
        return utf16_without_mark(head) is not None or _has_stray_nuls(head)
    controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in head)
    return controls <= len(head) // 50


def _has_stray_nuls(head: bytes) -> bool:
    """UTF-8 that a broken program wrote: a NUL here and there, and nothing else that no text has."""
    rest = head.replace(b"\x00", b"")
    if len(head) - len(rest) > len(head) // 10 or any(byte < 32 and byte not in _TEXT_CONTROLS for byte in rest):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(rest, final=False)  # what is cut at its end is no fault
    except UnicodeDecodeError:
        return False
    return True


def utf16_without_mark(head: bytes) -> str | None:
    """`utf-16-le` or `utf-16-be` for text whose every other byte is 0, as some programs write it."""
    even, odd = head[0:4000:2], head[1:4000:2]
    if len(odd) < 8:
        return None
    for name, zeros, others in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if zeros.count(0) > 0.7 * len(zeros) and others.count(0) == 0:
            return name
    return None
