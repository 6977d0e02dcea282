"""`python -m tests [pytest's arguments]`: finds or installs Chromium, then runs every test."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.chromium import INSTALL, find_chromium

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    os.chdir(ROOT)
    if _wants_browser(arguments) and find_chromium() is None and not _install():
        line = INSTALL if os.geteuid() == 0 else f"sudo {INSTALL}"
        print(f"The browser tests need Chromium: {line}\n(without them: -m 'not browser')", file=sys.stderr)
        return 2
    import pytest

    parallel = [] if any(argument.startswith("-n") for argument in arguments) else ["-n", "2"]
    return int(pytest.main([*parallel, *arguments]))


def _wants_browser(arguments: list[str]) -> bool:
    return "not browser" not in " ".join(arguments)


def _install() -> bool:
    """As root on Debian and its kin. Says what it does, for it takes a while."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    print(f"Chromium is not installed; running apt-get update and {INSTALL}", flush=True)
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-q"], [*INSTALL.split(), "--no-install-recommends"]):
        if subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=False).returncode != 0:
            return False
    return find_chromium() is not None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
