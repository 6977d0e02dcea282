"""Real worker processes on one of the bench's databases."""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from django.conf import settings

from detiq_admin.lifeline import PARENT_FD, READY_FD
from jobs.bench.notes import VARIABLE, SlotReader
from jobs.bench.server import Lab
from jobs.domain.errors import JobsError

THREADS = 8
_READY_SECONDS = 60
_STOP_SECONDS = 20


class Child:
    """A process that says when it works, and that ends with us even when we are killed."""

    def __init__(self, command: list[str], env: dict[str, str], log: Path, pass_fds: Sequence[int] = ()) -> None:
        parent_read, self._parent_write = os.pipe()
        self._ready_read, ready_write = os.pipe()
        self.log = log
        with log.open("wb") as output:
            self.popen = subprocess.Popen(
                command,
                cwd=settings.BASE_DIR,
                env={**env, PARENT_FD: str(parent_read), READY_FD: str(ready_write)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(parent_read, ready_write, *pass_fds),
                start_new_session=True,  # Ctrl-C is ours to handle: databases are dropped once nobody uses them
            )
        os.close(parent_read)
        os.close(ready_write)

    def wait_ready(self) -> Self:
        """Raises `JobsError` with the end of its log when it does not come up."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._ready_read, selectors.EVENT_READ)
            said = os.read(self._ready_read, 64) if selector.select(_READY_SECONDS) else b""
        if not said:
            raise JobsError(f"a process of the bench did not start: {self.last_words()}")
        return self

    def last_words(self) -> str:
        return self.log.read_text(errors="replace")[-2000:].strip()

    def close_quickly(self) -> None:
        """For one that has ended by itself."""
        for fd in (self._parent_write, self._ready_read):
            with contextlib.suppress(OSError):
                os.close(fd)

    def close(self) -> None:
        """SIGTERM, and SIGKILL for what does not end by it."""
        self.popen.send_signal(signal.SIGTERM)
        try:
            self.popen.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.popen.pid, signal.SIGKILL)
            self.popen.wait()
        self.close_quickly()


def worker_command(threads: int = THREADS) -> list[str]:
    """How a worker process of so many threads is started."""
    return [sys.executable, "manage.py", "worker", "--concurrency", str(threads)]


@contextlib.contextmanager
def workers(lab: Lab, url: str, notes: SlotReader, count: int, threads: int = THREADS) -> Iterator[list[Child]]:
    """So many `manage.py worker`, all ready, stopped afterwards."""
    env = lab.environment(
        url, JOB_HANDLER_MODULES="jobs.bench.handlers", JOB_SHUTDOWN_GRACE_SECONDS="5", **{VARIABLE: str(notes.path)}
    )
    with contextlib.ExitStack() as stack:
        started = []
        for number in range(count):
            child = Child(worker_command(threads), env, lab.folder / f"worker-{number}.log")
            stack.callback(child.close)
            started.append(child)
        yield [child.wait_ready() for child in started]
