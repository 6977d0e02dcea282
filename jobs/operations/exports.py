"""Records who took which rows away."""

from typing import Any

from django.db import connections

from jobs.operations.actions import Person, audited


def begun(person: Person, filter: dict[str, Any], form: str, what: str = "jobs") -> None:
    """Before the first row leaves: an export that cannot be audited is not made."""
    audited(person, "export", what, "", filter=filter, numbers={"form": form})


def ended(person: Person, filter: dict[str, Any], form: str, rows: int, complete: bool) -> None:
    """After the last row; `complete` false: the reader went away or the read failed."""
    try:
        numbers = {"form": form, "rows": rows, "complete": complete}
        audited(person, "export_ended", "jobs", "", filter=filter, numbers=numbers)
    finally:
        connections.close_all()
