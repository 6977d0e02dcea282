"""Where the parts of `manage.py up` write: one file each under `DETIQ_VAR_DIR`, for the user alone."""

import contextlib
import os
from pathlib import Path
from typing import IO

_LARGEST = 10 * 1024 * 1024


def open_log(path: Path) -> IO[bytes]:
    """Opens it to append. One of more than 10 MB is put aside first, replacing the one put aside before."""
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > _LARGEST:
            path.rename(path.with_suffix(".log.1"))
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def last_line(path: Path) -> str:
    """The last thing that was written; says so when nothing was."""
    lines = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
    return lines[-1] if lines else f"nothing in {path}"
