"""One operation as pages show it: its words, who may steer it, by which steps."""

from datetime import timedelta
from typing import Any

from django.urls import reverse

from jobs.console.permissions import can, who_may
from jobs.console.queries import operations as read
from jobs.console.queries.db import limited
from jobs.domain.bulk import HELD, MOVING, OPEN, SPECS, STATE_WORDS, Kind
from jobs.domain.errors import OperationNotFound
from jobs.queue.operations import LEASE_SECONDS
from jobs.rows import Row

# An operation whose worker says nothing for so long is shown as waiting for one.
SILENT = timedelta(seconds=3 * LEASE_SECONDS)
STEPS = {"pause": ("Pause…", MOVING), "resume": ("Resume…", HELD), "stop": ("Stop for good…", OPEN)}


def whole_number(text: str) -> int:
    """A number of an address; 0 for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0


def line(row: Row) -> dict[str, Any]:
    """A row with its words."""
    known = row["kind"] in set(Kind)
    decided = row["done"] + row["skipped"] + row["failed"]
    waits = row["state"] in MOVING and row["now"] - (row["heartbeat_at"] or row["created_at"]) > SILENT
    return row | {
        "verb": SPECS[Kind(row["kind"])].verb if known else row["kind"],
        "past": SPECS[Kind(row["kind"])].done if known else "done",
        "word": "Waiting for a worker" if waits else STATE_WORDS.get(row["state"], row["state"]),
        "urgent": row["state"] in HELD or waits,
        "open": row["state"] in OPEN,
        "decided": decided,
        "left": max(0, row["total"] - decided),
        "percent": 100 * decided // row["total"] if row["total"] else 100,
        "url": reverse("console:operation", args=[row["id"]]),
    }


def find(operation_id: int) -> dict[str, Any]:
    """Raises `OperationNotFound`, also for one whose rows are all beyond the person's tenants."""
    with limited():
        row = read.find(operation_id) if operation_id < 2**63 else None
    if row is None:
        raise OperationNotFound(operation_id)
    return line(row)


def may(user: Any, found: dict[str, Any], step: str) -> bool:
    """Whoever may begin work of a kind may steer it, if all that it touches is theirs to see."""
    return found["whole"] and can(user, f"{step}_operation") and can(user, f"bulk_{found['kind']}")


def who_steers(found: dict[str, Any]) -> str:
    """Who may steer it, in words."""
    who = who_may(f"bulk_{found['kind']}")
    return who if found["whole"] else f"{who} without a limit to some tenants"
