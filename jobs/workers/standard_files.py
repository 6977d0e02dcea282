"""The process's standard files, which handlers share with the worker: whatever one closes is opened again after it."""

import fcntl
import os
import sys

_ABOVE = 10  # no program takes a number from here on for a standard file

type _File = tuple[int, int]


class StandardFiles:
    """Remembers what 0, 1 and 2 are when it is made. A number that nobody holds would go to the next connection, and what
    is printed would be sent to the database."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[int, _File]] = {}
        for number in (0, 1, 2):
            if (file := _file(number)) is not None:
                self._kept[number] = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _ABOVE), file

    def open_again(self) -> None:
        """Those that were closed, unless what was kept of them was closed, too; and the streams that print to them."""
        for number, (kept, file) in self._kept.items():
            if _file(number) is None and _file(kept) == file:
                os.dup2(kept, number)
        for number, name in ((1, "stdout"), (2, "stderr")):
            if getattr(getattr(sys, name), "closed", False) and _file(number) is not None:
                stream = open(number, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115 - stays open
                setattr(sys, name, stream)


def _file(number: int) -> _File | None:
    try:
        found = os.fstat(number)
    except OSError:
        return None
    return found.st_dev, found.st_ino
