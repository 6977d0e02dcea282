"""When handlers started, noted in shared memory: a file of one slot a job, mapped by every process.

A slot holds CLOCK_MONOTONIC in nanoseconds, which is one clock for all processes of a machine; 0: not started yet.
Which slot is a job's own is in its config (`n`), so that peers' handlers use the same notes.
"""

import mmap
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "DETIQ_BENCH_NOTES"
_SLOT = struct.Struct("=q")


class SlotReader:
    """Reads the notes that handlers take."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)

    def at(self, slot: int) -> int:
        """When the job of this slot started, in nanoseconds; 0: not yet."""
        return int(_SLOT.unpack_from(self._map, slot * _SLOT.size)[0])

    def all(self) -> list[int]:
        """When those that have started did, by slot."""
        return [at for (at,) in _SLOT.iter_unpack(self._map[:]) if at]

    def per_second(self) -> float:
        """Starts a second, from the first to the last."""
        starts = self.all()
        return (len(starts) - 1) / ((max(starts) - min(starts)) / 1e9)

    def clear(self) -> None:
        """As if nothing had started yet."""
        self._map[:] = bytes(len(self._map))

    def close(self) -> None:
        self._map.close()


@contextmanager
def new_notes(folder: Path, slots: int) -> Iterator[SlotReader]:
    """Empty notes for so many jobs, gone afterwards."""
    path = folder / f"notes-{time.monotonic_ns()}"
    path.write_bytes(bytes(_SLOT.size * slots))
    reader = SlotReader(path)
    try:
        yield reader
    finally:
        reader.close()
        path.unlink(missing_ok=True)


class NoteTaker:
    """The handler's side: opened once a process, by the path in the environment."""

    def __init__(self) -> None:
        self._map: mmap.mmap | None = None

    def note(self, slot: int) -> None:
        now = time.monotonic_ns()
        if self._map is None:
            with Path(os.environ[VARIABLE]).open("r+b") as file:
                self._map = mmap.mmap(file.fileno(), 0)
        _SLOT.pack_into(self._map, slot * _SLOT.size, now)


taker = NoteTaker()
