"""Unpacking gzip without ever holding more than was asked for: a small file can unpack to any size."""

import zlib
from collections.abc import Iterable, Iterator

GZIP_MAGIC = b"\x1f\x8b"
_STEP = 65_536
_ANY_HEADER = zlib.MAX_WBITS | 32


def inflate(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The unpacked bytes of a gzip or zlib stream, in pieces of at most 64 KiB. Raises `zlib.error` when it is
    broken."""
    unpack = zlib.decompressobj(wbits=_ANY_HEADER)
    for chunk in chunks:
        data = chunk
        while data:
            if unpack.eof:
                if not data.startswith(GZIP_MAGIC):
                    return  # padding after the end, which everyone ignores
                unpack = zlib.decompressobj(wbits=_ANY_HEADER)
            yield unpack.decompress(data, _STEP)
            data = unpack.unused_data if unpack.eof else unpack.unconsumed_tail
    yield unpack.flush()


def unpacked(body: bytes, most: int) -> tuple[bytes, bool]:
    """`body` itself, or what it unpacks to if it is a gzip file, at most `most` bytes; and whether something is
    missing."""
    if not body.startswith(GZIP_MAGIC):
        return body[:most], len(body) > most
    kept = bytearray()
    try:
        for piece in inflate([body]):
            kept += piece
            if len(kept) > most:
                return bytes(kept[:most]), True
    except zlib.error:
        return bytes(kept), True
    return bytes(kept), False
