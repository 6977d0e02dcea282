"""When handlers started, noted in shared memory: a file of one slot a job, mapped by every process.

A slot holds CLOCK_MONOTONIC in nanoseconds, which is one clock for all processes of a machine; 0: not started yet.
Which slot is a job's own is in its config (`n`), so that peers' handlers use the same notes.
"""

import mmap
import os
import struct
import time
from pathlib import Path

VARIABLE = "DETIQ_BENCH_NOTES"
_SLOT = struct.Struct("=q")


class Notes:
    """The reader's side."""

    def __init__(self, path: Path, slots: int) -> None:
        self.path = path
        self.slots = slots
        path.write_bytes(bytes(_SLOT.size * slots))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)

    def at(self, slot: int) -> int:
        """When the job of this slot started, in nanoseconds; 0: not yet."""
        return int(_SLOT.unpack_from(self._map, slot * _SLOT.size)[0])

    def all(self) -> list[int]:
        return [at for (at,) in _SLOT.iter_unpack(self._map[:]) if at]

    def close(self) -> None:
        self._map.close()
        self.path.unlink(missing_ok=True)


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
