"""A real executor in Node, as a service of somebody else's would be."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Self

import pytest

SCRIPT = Path(__file__).parent / "executor.mjs"
INSTALL = "apt-get install -y nodejs"


def node() -> str:
    """Where Node is. Fails the test with the line that installs it."""
    found = shutil.which("node")
    if found is None:
        pytest.fail(f"This test runs a real executor and needs Node 18 or newer: {INSTALL}", pytrace=False)
    return found


class NodeExecutor:
    """A context manager; `url` is where it listens."""

    def __init__(self, secret: str) -> None:
        self._env = {"PATH": os.environ["PATH"], "DETIQ_SECRET": secret}

    def __enter__(self) -> Self:
        self._process = subprocess.Popen([node(), str(SCRIPT), "0"], env=self._env, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}/run"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()
