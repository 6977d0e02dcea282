"""The parts of a zip file, unpacked no further than the limits say: sizes that it states are not believed."""

import zipfile
import zlib
from typing import IO

from jobs.artifacts.limits import Limits
from jobs.artifacts.reading.document import Unreadable

_CHUNK = 65_536
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


class Archive:
    """Reads parts by name. One budget of unpacked bytes for all of them."""

    def __init__(self, file: IO[bytes], limits: Limits) -> None:
        self._left = limits.unpacked_bytes
        self._limits = limits
        try:
            self._zip = zipfile.ZipFile(file)
        except _BROKEN as error:
            raise Unreadable(f"the archive is broken: {error}") from error
        self.infos = {info.filename: info for info in self._zip.infolist()[: limits.entries + 1]}
        if len(self._zip.infolist()) > limits.entries:
            raise Unreadable(f"the archive has more than {limits.entries:,} parts")

    @property
    def names(self) -> list[str]:
        """The names of its parts, in the archive's order."""
        return list(self.infos)

    def check(self) -> None:
        """Raises `Unreadable` when its parts, as they say themselves, are more than is read: a bomb, or a mistake."""
        stated = sum(info.file_size for info in self.infos.values())
        packed = max(1, sum(info.compress_size for info in self.infos.values()))
        if stated > self._limits.unpacked_bytes and stated / packed > 100:
            raise Unreadable(
                f"the archive would unpack to {stated / 1e6:,.0f} MB, {stated // packed:,} times its own size"
            )

    def is_longer(self, name: str) -> bool:
        """Does a part say of itself that it is more than is read?"""
        return name in self.infos and self.infos[name].file_size > min(self._left, self._limits.part_bytes)

    def read_beginning(self, name: str) -> bytes:
        """As much of a part as is read of any. Raises `Unreadable`."""
        most = min(self._left, self._limits.part_bytes)
        try:
            with self._zip.open(self.infos[name]) as part:
                data = part.read(most)
        except _BROKEN as error:
            raise Unreadable(f"the archive's part {name[:80]!r} cannot be read: {error}") from error
        self._left -= len(data)
        return data

    def read(self, name: str) -> bytes:
        """A part's bytes; empty when there is none. Raises `Unreadable`."""
        if name not in self.infos:
            return b""
        chunks: list[bytes] = []
        left = min(self._left, self._limits.part_bytes)
        try:
            with self._zip.open(self.infos[name]) as part:
                while chunk := part.read(_CHUNK):
                    left -= len(chunk)
                    if left < 0:
                        raise Unreadable(f"the archive unpacks to more than is read: its part {name[:80]!r}")
                    chunks.append(chunk)
        except _BROKEN as error:
            raise Unreadable(f"the archive's part {name[:80]!r} cannot be read: {error}") from error
        data = b"".join(chunks)
        self._left -= len(data)
        return data
