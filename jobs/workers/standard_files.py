"""The process's standard files, which handlers share with the worker: whatever one closes is opened again after it."""

import fcntl
import os
import sys

_ABOVE = 10  # no program takes a number from here on for a standard file


class StandardFiles:
    """Remembers what 0, 1 and 2 are when it is made. A number that nobody holds would go to the next connection, and what
    is printed would be sent to the database."""

    def __init__(self) -> None:
        self._kept = {
            number: fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _ABOVE) for number in (0, 1, 2) if _open(number)
        }

    def open_again(self) -> None:
        """Those that were closed, and the streams that print to them."""
        for number, kept in self._kept.items():
            if not _open(number):
                os.dup2(kept, number)
        for number, name in ((1, "stdout"), (2, "stderr")):
            if number in self._kept and getattr(getattr(sys, name), "closed", False):
                setattr(sys, name, open(number, "w", buffering=1, errors="backslashreplace", closefd=False))  # noqa: SIM115 - stays open


def _open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
