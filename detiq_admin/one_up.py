"""One `manage.py up` per DETIQ_VAR_DIR with an embedded database: two servers on one data folder would destroy it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jobs.domain.errors import JobsError


class AlreadyRunning(JobsError):
    """Another `manage.py up` uses this DETIQ_VAR_DIR."""


@contextmanager
def only_one(var: Path) -> Iterator[None]:
    """Holds the folder's lock; the system frees it however this process ends. Raises `AlreadyRunning`."""
    with (var / "up.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise AlreadyRunning(
                f"Detiq Admin is already running on DETIQ_VAR_DIR {var} (process {file.read().strip() or 'unknown'}). "
                "Stop that one, or set DETIQ_VAR_DIR to another folder."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
