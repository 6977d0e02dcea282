"""README names what there is."""

from pathlib import Path

import pytest

from jobs.conf import SETTINGS
from jobs.console.permissions import Role
from jobs.domain.states import TRANSITIONS, WORDS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = [path.stem for path in (ROOT / "jobs/management/commands").glob("[a-z]*.py")]


@pytest.mark.parametrize("setting", [setting.name for setting in SETTINGS])
def test_every_setting_is_in_readme(setting: str) -> None:
    assert f"`{setting}`" in README


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_readme(command: str) -> None:
    assert f"manage.py {command}" in README


@pytest.mark.parametrize("role", list(Role))
def test_every_role_is_in_readme(role: str) -> None:
    assert f"| {role} |" in README


def test_every_state_is_in_the_diagram() -> None:
    assert all(state in README for state in WORDS)


# Not arrows between two states: a copy is a new job, and the trash is no state.
@pytest.mark.parametrize("transition", sorted({one.name for one in TRANSITIONS} - {"rerun", "purge", "restore"}))
def test_every_transition_is_an_arrow_of_the_diagram(transition: str) -> None:
    diagram = README.split("```mermaid")[1].split("```")[0]
    assert transition in diagram
    for one in TRANSITIONS:
        if one.name == transition and one.source and one.target:
            for source in one.source:
                if (source, one.target) == ("RETRY_WAIT", "DEAD_LETTERED"):
                    continue  # left by two writers at once: repaired, not drawn
                assert any(
                    line.strip().startswith(f"{source} --> {one.target}:") and transition in line
                    for line in diagram.splitlines()
                ), f"{source} --> {one.target} by {transition}"
