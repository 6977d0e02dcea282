"""Real `manage.py up` processes on var folders of their own."""

import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.processes import Process, manage

_OURS = ("DATABASE_URL", "DATABASE_OWNER_URL", "SECRET_KEY", "DETIQ_", "ALLOWED_HOSTS", "DJANGO_", "PYTEST_", "LOG_")


def bare_environment(**extra: str) -> dict[str, str]:
    """The machine's environment without what the test run set for itself."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return {**kept, "PYTHONUNBUFFERED": "1", **extra}


@pytest.fixture
def var() -> Iterator[Path]:
    """A var folder that PostgreSQL's system user can enter, too; pytest's own cannot be."""
    folder = Path(tempfile.mkdtemp(prefix="detiq-up-"))
    folder.chmod(0o711)
    yield folder
    for process in left_in(folder):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    shutil.rmtree(folder, ignore_errors=True)


def left_in(var: Path) -> list[psutil.Process]:
    """Every process that has this var folder in its environment or its command line."""
    return [process for process in psutil.process_iter() if _works_in(process, var)]


def _works_in(process: psutil.Process, var: Path) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:  # it has ended; whoever started it has not asked yet
            return False
        return process.environ().get("DETIQ_VAR_DIR") == str(var) or str(var) in " ".join(process.cmdline())
    except psutil.Error:
        return False


def nothing_left_in(var: Path, within: float) -> bool:
    deadline = time.monotonic() + within
    while left_in(var):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


class Up(Process):
    """A running `manage.py up`."""

    def wait_for(self, part: str, seconds: float = 60) -> str:
        """What the line of this part says. AssertionError with all output when it does not come."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if (text := self.line(part)) is not None:
                return text
            if self.popen.poll() is not None and self.line(part) is None:
                break
            time.sleep(0.05)
        raise AssertionError(f"no line of {part} (exit code {self.popen.poll()}):\n{self.output()}")

    def wait_until(self, holds: Callable[[str], object], seconds: float = 20) -> None:
        """Until `holds(output)`. AssertionError with all output when that takes too long."""
        deadline = time.monotonic() + seconds
        while not holds(self.output()):
            assert time.monotonic() < deadline, self.output()
            time.sleep(0.1)

    def line(self, part: str) -> str | None:
        lines = self.output().splitlines()
        return next((line[len(part) :].strip() for line in lines if line.startswith(f"{part} ")), None)

    def lines(self) -> list[str]:
        return [line for line in self.output().splitlines() if line.strip()]


StartUp = Callable[..., Up]


@pytest.fixture
def start_up(var: Path) -> Iterator[StartUp]:
    """`start_up("--no-demo", NAME="value")` starts `manage.py up` on `var` and a free port, and ends it with the test."""
    running: list[Up] = []

    def start(*arguments: str, **env: str) -> Up:
        port = [] if "--port" in arguments else ["--port", "0"]
        log = var / f"up-{len(running)}.log"
        up = Up(
            manage("up", *port, *arguments),
            bare_environment(**{"JOB_SHUTDOWN_GRACE_SECONDS": "1", "DETIQ_VAR_DIR": str(var), **env}),
            log,
        )
        running.append(up)
        return up

    yield start
    for up in running:
        if up.popen.poll() is None:
            up.signal(signal.SIGCONT)
            up.terminate()
            with contextlib.suppress(AssertionError):
                up.wait(30)
        up.close()
