"""`manage.py pins`: the versions in `constraint-dependencies`, fresh from a resolution of all groups."""

import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

_LIST = re.compile(r"(?ms)^constraint-dependencies = \[\n.*?^\]\n")


class Command(BaseCommand):
    """Resolves in a folder of its own: the resolver's lock file records download addresses and must not be kept."""

    help = "Rewrites pyproject.toml's pins to the newest versions that fit together."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        project = Path(settings.BASE_DIR) / "pyproject.toml"
        before = project.read_text()
        after = with_pins(before, resolve(without_pins(before)))
        project.write_text(after)
        changed = sorted(set(after.splitlines()) - set(before.splitlines()))
        self.stdout.write("\n".join(line.strip(' ",') for line in changed) or "nothing newer")


def without_pins(pyproject: str) -> str:
    return _LIST.sub("", pyproject)


def with_pins(pyproject: str, pins: list[str]) -> str:
    """The text of pyproject.toml with this list of pins."""
    lines = "".join(f'    "{pin}",\n' for pin in pins)
    return _LIST.sub(lambda _: f"constraint-dependencies = [\n{lines}]\n", pyproject)


def resolve(pyproject: str) -> list[str]:
    """`name==version` for every package of every group, sorted. Raises CommandError when the resolution fails."""
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        raise CommandError("pins needs uv on the PATH")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pyproject.toml").write_text(pyproject)
        done = subprocess.run([uv, "lock", "--quiet", "--project", folder], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CommandError(f"uv cannot resolve the dependencies: {done.stderr.strip()}")
        lock = tomllib.loads((Path(folder) / "uv.lock").read_text())
    return sorted(f"{package['name']}=={package['version']}" for package in lock["package"] if _is_pinned(package))


def _is_pinned(package: dict[str, Any]) -> bool:
    return "registry" in package["source"]  # the project itself has no version to pin
