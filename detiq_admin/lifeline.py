"""A child process ends with its parent, however the parent ended.

The parent passes the read end of a pipe (`DETIQ_PARENT_FD`) that only it holds open for writing. When the parent is
gone, even by SIGKILL, the pipe reads as ended. A second pipe (`DETIQ_READY_FD`) carries the child's "ready" back.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Mapping

PARENT_FD = "DETIQ_PARENT_FD"
READY_FD = "DETIQ_READY_FD"
_ORPHAN_EXIT_CODE = 70


def watch(grace_seconds: float = 5.0, environ: Mapping[str, str] = os.environ) -> None:
    """Starts to watch the parent, if there is one to watch.

    When it is gone this process gets two SIGTERMs, half a second apart (stop, then stop at once), and is ended after
    `grace_seconds` if it still runs.
    """
    fd = _inherited(environ, PARENT_FD)
    if fd is not None:
        threading.Thread(target=_wait_for_end, args=(fd, grace_seconds), name="lifeline", daemon=True).start()


def ready(environ: Mapping[str, str] = os.environ) -> None:
    """Tells the parent, if it listens, that this process now does its work. May be called more than once."""
    fd = _inherited(environ, READY_FD)
    if fd is not None:
        with contextlib.suppress(OSError):  # the parent has stopped listening, or was told already
            os.write(fd, b"ready\n")
            os.close(fd)


def _inherited(environ: Mapping[str, str], variable: str) -> int | None:
    """The descriptor named by the variable, kept from this process's own children."""
    raw = environ.get(variable, "")
    if not raw.isdecimal():
        return None
    fd = int(raw)
    try:
        os.set_inheritable(fd, False)
    except OSError:  # closed meanwhile, or the variable was inherited without the descriptor
        return None
    return fd


def _wait_for_end(fd: int, grace_seconds: float) -> None:
    while os.read(fd, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_seconds)
    os._exit(_ORPHAN_EXIT_CODE)
