"""`python -m tests [pytest's arguments]`: finds or installs Chromium, Node and PgBouncer, then runs every test.

Tests of real processes make promises about seconds. What fails while two processes share the machine is run once more,
alone, and both results are printed.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.chromium import INSTALL, find_chromium
from tests.pooler import INSTALL as INSTALL_POOLER
from tests.pooler import find_pooler

INSTALL_NODE = "apt-get install -y nodejs"

ROOT = Path(__file__).resolve().parent.parent
NOTES = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
# A process that has no tests left takes some of the other's: the longest ones come last and lie together.
PARALLEL = ["-n", "2", "--dist", "worksteal"]
# More than so many failures are no accident of a busy machine.
MOST_AGAIN = 12


def main(arguments: list[str]) -> int:
    os.chdir(ROOT)
    if (
        _wants_browser(arguments)
        and find_chromium() is None
        and not (_install("Chromium", INSTALL) and find_chromium())
    ):
        line = INSTALL if os.geteuid() == 0 else f"sudo {INSTALL}"
        print(f"The browser tests need Chromium: {line}\n(without them: -m 'not browser')", file=sys.stderr)
        return 2
    if shutil.which("node") is None and not _install("Node", INSTALL_NODE):
        print(f"Tests of a real executor in Node will fail; they need: {INSTALL_NODE}", file=sys.stderr)
    if find_pooler() is None and not _install("PgBouncer", INSTALL_POOLER):
        print(f"The test of a pooler is left out; it needs: {INSTALL_POOLER}", file=sys.stderr)
    clean = dict(os.environ)
    NOTES.unlink(missing_ok=True)  # of an earlier run
    command = [sys.executable, "-m", "pytest"]
    parallel = [] if any(argument.startswith("-n") for argument in arguments) else PARALLEL
    code = subprocess.run([*command, *parallel, *arguments], env=clean, check=False).returncode
    if code != 1 or not 0 < _failed() <= MOST_AGAIN:
        return code
    print(
        f"\n{_failed()} failed beside others. They run again, alone: a promise about time that only a busy machine broke"
        "\nholds then, and one that is broken fails again.\n",
        flush=True,
    )
    return subprocess.run([*command, "--last-failed", *arguments], env=clean, check=False).returncode


def _failed() -> int:
    """How many tests failed in the last run, by pytest's own notes."""
    return len(json.loads(NOTES.read_text())) if NOTES.exists() else 0


def _wants_browser(arguments: list[str]) -> bool:
    return "not browser" not in " ".join(arguments)


def _install(what: str, line: str) -> bool:
    """As root on Debian and its kin. Says what it does, for it takes a while."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    print(f"{what} is not installed; running apt-get update and {line}", flush=True)
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-q"], [*line.split(), "--no-install-recommends"]):
        if subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=False).returncode != 0:
            return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
