"""The command line that does what a dialog does, through the same door."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

REASON = "…"


@dataclass(frozen=True)
class Word:
    """One word of a command. `says` names the form's field that it follows while somebody types."""

    text: str
    says: str = ""


def command(
    *words: str, reason: str = "", fields: Mapping[str, str] | None = None, values: Mapping[str, str] | None = None
) -> list[Word]:
    """`manage.py` and the words, then `fields` (option → name of the form's field) with their `values`, then the reason."""
    line = [Word("manage.py"), *(Word(shlex.quote(one)) for one in words)]
    for option, name in (fields or {}).items():
        line += [Word(option), Word(shlex.quote((values or {}).get(name, "")), name)]
    return [*line, Word("--reason"), Word(shlex.quote(reason.strip() or REASON), "reason")]


def job_command(verb: str, job_id: str, *flags: str, **more: object) -> list[Word]:
    """`manage.py job <verb> <id>`. An id that looks like an option stands behind `--`, at the end."""
    if not job_id.startswith("-"):
        return command("job", verb, job_id, *flags, **more)  # type: ignore[arg-type]
    return [*command("job", verb, *flags, **more), Word("--"), Word(shlex.quote(job_id))]  # type: ignore[arg-type]
