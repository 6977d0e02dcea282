"""What is installed is what is pinned, and no file tells where it was downloaded."""

import re
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, distributions, version

import pytest

from jobs.management.commands.pins import with_pins, without_pins
from tests.processes import ROOT

# Put together here, or this file would be one that names them.
HOSTS = [
    "pypi" + ".org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "npm" + "js.com",
    "debian" + ".org",
    "crates" + ".io",
]
# Brought by the tool that makes the environment.
UNPINNED = {"pip", "setuptools", "uv", "wheel"}


@pytest.fixture(scope="module")
def pins() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return dict(pin.split("==") for pin in project["tool"]["uv"]["constraint-dependencies"])


def test_installed_versions_are_the_pinned_ones(pins):
    assert {name: found for name in pins if (found := _installed(name)) not in (None, pins[name])} == {}


def test_everything_installed_is_pinned(pins):
    installed = {re.sub(r"[-_.]+", "-", found.metadata["Name"]).lower() for found in distributions()}
    assert installed - set(pins) - UNPINNED == set()


def test_no_file_names_a_registry():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    found = [(name, host) for name in names for host in HOSTS if host.encode() in (ROOT / name).read_bytes()]
    assert found == []


def test_new_pins_replace_the_old_ones_and_nothing_else():
    text = '[tool.uv]\npackage = false\nconstraint-dependencies = [\n    "a==1",\n]\n\n[tool.ruff]\n'
    assert with_pins(text, ["a==2", "b==1"]) == text.replace('    "a==1",\n', '    "a==2",\n    "b==1",\n')
    assert "a==1" not in without_pins(text)


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:  # for another platform
        return None
