"""A file read in a process of its own, within time and memory."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from jobs.artifacts.analysis.analyse import Findings
from jobs.artifacts.doctypes import DocType
from jobs.artifacts.limits import LIMITS, Limits

ROOT = Path(__file__).resolve().parents[2]
_LOOK_SECONDS = 0.1
# What the reader gets of this process's environment: no address, no key.
_PASSED = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "VIRTUAL_ENV")


def inspect(
    file: IO[bytes],
    name: str,
    *,
    masked_keys: list[str],
    check: Callable[[], None] = lambda: None,
    limits: Limits = LIMITS,
) -> Findings:
    """What is in a file on this machine's disk. `check` is called several times a second and may raise to stop it.

    A file that takes too long or too much memory is told of as unreadable: another run would do no better.
    """
    file.seek(0)
    asked = json.dumps({"name": name, "masked_keys": masked_keys, "limits": asdict(limits)})
    with TemporaryFile() as out, TemporaryFile() as trouble:
        child = subprocess.Popen(
            [sys.executable, "-m", "jobs.artifacts.child", asked],
            stdin=file, stdout=out, stderr=trouble, cwd=ROOT, start_new_session=True,
            env={key: value for key in _PASSED if (value := os.environ.get(key)) is not None},
        )  # fmt: skip
        try:
            code = _wait(child, check, limits.seconds)
        finally:
            child.kill()
            child.wait()
        out.seek(0)
        if code == 0:
            return Findings(**json.load(out))
        trouble.seek(0)
        return _gave_up(code, trouble.read(100_000).decode("utf-8", "replace"), limits)


def _wait(child: "subprocess.Popen[bytes]", check: Callable[[], None], seconds: float) -> int | None:
    """The exit code; None when the time is over."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            return child.wait(_LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            check()
    return None


class ReaderBroken(RuntimeError):
    """The process that reads files ended without an answer, for no reason that lies in the file."""


def _gave_up(code: int | None, trouble: str, limits: Limits) -> Findings:
    if code is None or code == -24:  # SIGXCPU
        why = f"reading it took longer than {limits.seconds:.0f} s"
    elif "MemoryError" in trouble or code == -9:
        why = f"reading it needs more than {limits.memory_bytes / 1e6:,.0f} MB of memory"
    elif code in (-11, -6, -7):
        why = "its reader crashed on it"
    else:
        last = next((line for line in reversed(trouble.splitlines()) if line.strip()), "")
        raise ReaderBroken(f"the reader of files ended with code {code}: {last[:300]}")
    text = f"The file could not be read: {why}."
    return Findings(DocType.OTHER, None, "unreadable file", text, note=text)
