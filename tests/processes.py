"""Real `manage.py` processes on the test database, which never outlive their test."""

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self
from urllib.parse import quote

from django.conf import settings

from detiq_admin.lifeline import PARENT_FD, READY_FD

ROOT = Path(__file__).resolve().parent.parent


def database_url(name: str = "") -> str:
    """The test database's address, with the name it has in this process of the run; or another's on the same server."""
    database = settings.DATABASES["default"]
    password = f":{quote(database['PASSWORD'], safe='')}" if database["PASSWORD"] else ""
    host = quote(database["HOST"], safe="")
    port = f"&port={database['PORT']}" if database["PORT"] else ""
    return f"postgresql://{database['USER']}{password}@/{quote(name or database['NAME'], safe='')}?host={host}{port}"


def manage(*arguments: str) -> list[str]:
    """The command line of a management command."""
    return [sys.executable, "manage.py", *arguments]


def environment(**extra: str) -> dict[str, str]:
    """What a process of the product needs to work on the test database."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "detiq_admin.settings",
        "DATABASE_URL": database_url(),
        "PYTHONUNBUFFERED": "1",
        **extra,
    }


class Process:
    """One running process. Its output, stdout and stderr together, is in `output()`."""

    def __init__(self, command: list[str], env: dict[str, str], log: Path, pass_fds: Sequence[int] = ()) -> None:
        self.log = log
        parent_read, self._parent_write = os.pipe()
        self._ready_read, ready_write = os.pipe()
        with log.open("wb") as file:
            self.popen = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**env, PARENT_FD: str(parent_read), READY_FD: str(ready_write)},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                pass_fds=(parent_read, ready_write, *pass_fds),
                start_new_session=True,
            )
        os.close(parent_read)
        os.close(ready_write)

    @property
    def pid(self) -> int:
        return self.popen.pid

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_ready(self, seconds: float = 20) -> Self:
        """Waits for the process's own word that it works (`lifeline.ready()`). AssertionError with its output else."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._ready_read, selectors.EVENT_READ)
            said = os.read(self._ready_read, 64) if selector.select(seconds) else b""
        assert said, f"not ready after {seconds:g} s (exit code {self.popen.poll()}):\n{self.output()}"
        return self

    def signal(self, number: int) -> None:
        """SIGTERM, SIGKILL, SIGSTOP, SIGCONT, …"""
        self.popen.send_signal(number)

    def terminate(self) -> None:
        self.signal(signal.SIGTERM)

    def kill(self) -> int:
        """SIGKILL, and waits until it is gone."""
        self.signal(signal.SIGKILL)
        return self.popen.wait(10)

    def wait(self, seconds: float = 20) -> int:
        """The exit code. AssertionError with the output when it has not ended in time."""
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds:g} s:\n{self.output()}") from None

    def close(self) -> None:
        """Ends it and everything in its session, whatever state it is in."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait(10)
        for fd in (self._parent_write, self._ready_read):
            with contextlib.suppress(OSError):
                os.close(fd)


def console(listener: socket.socket, **extra: str) -> Process:
    """The console as `manage.py up` starts it, on the test database, with the tests' quick password hashes."""
    command = [sys.executable, "-m", "detiq_admin.serve", "--fd", str(listener.fileno())]
    env = environment(
        DJANGO_SETTINGS_MODULE="tests.settings", DETIQ_TEST_DATABASE_URL=database_url(), DETIQ_PROCESS="web", **extra
    )
    log = Path(settings.VAR_DIR) / f"console-{os.getpid()}-{listener.fileno()}.log"
    return Process(command, env, log, pass_fds=[listener.fileno()])


class Processes:
    """Starts processes of the product and ends them all with the test."""

    def __init__(self) -> None:
        self._running: list[Process] = []
        self._folder = Path(settings.VAR_DIR) / "logs"
        self._folder.mkdir(exist_ok=True)

    def start(self, *arguments: str, **env: str) -> Process:
        """`start("queue", "status")` runs `manage.py queue status`."""
        log = self._folder / f"{os.getpid()}-{time.monotonic_ns()}.log"
        process = Process(manage(*arguments), environment(**env), log)
        self._running.append(process)
        return process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running:
            process.close()


class WorkerProcesses(Processes):
    """Called, it starts a worker and waits until it works."""

    def __call__(self, *arguments: str, **env: str) -> Process:
        quick = {"JOB_WORKER_POLL_INTERVAL_MS": "500", "JOB_SHUTDOWN_GRACE_SECONDS": "5"}
        return self.start("worker", *arguments, **{**quick, **env}).wait_ready()
