"""Repairs what the ledger and the queue contradict each other in, by the operations that exist: jobs are restored and
retried through the queue's door, events retried, purged, taken back and written through the ledger's.

Each of them is guarded by the state it expects, so that a repair may be repeated: what is repaired is not found again.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from jobs import audit
from jobs.conf import conf
from jobs.domain.errors import InvalidInput
from jobs.ledger import contradictions, outbox
from jobs.ledger.contradictions import KINDS
from jobs.operations.actions import Person, audited, required
from jobs.queue import transitions
from jobs.rows import Row

# What one repair moves at most: it is one transaction, and its locks are short.
MOST_AT_ONCE = 500

# What is done to a row: a word for each, in the order in which they are shown.
STEPS = {
    "restore_job": "job restored from the trash",
    "write_event": "event written anew",
    "retry_job": "job retried",
    "retry_event": "event retried",
    "purge_event": "event purged",
    "reclaim_event": "event taken back",
    "leave": "left alone",
}


@dataclass
class Repaired:
    """What was done, by step, and what was left with the reason: event → why. `more`: there is more of this kind."""

    done: Counter[str] = field(default_factory=Counter)
    left: dict[str, str] = field(default_factory=dict)
    more: bool = False

    def as_json(self) -> dict[str, Any]:
        return {"done": dict(self.done), "left": self.left, "more": self.more}


def plan(kind: str, most: int = MOST_AT_ONCE, seen: datetime | None = None) -> tuple[list[Row], int]:
    """What a repair would do now: rows, each with its `step`, and how many there are. Changes nothing.

    Raises `InvalidInput` for a kind that there is not.
    """
    if kind not in KINDS:
        raise InvalidInput("kind", f"it must be one of {', '.join(KINDS)}")
    rows, total = contradictions.find(kind, most, seen)
    return [row | {"step": step_of(kind, row)} for row in rows], total


def step_of(kind: str, row: Row) -> str:
    """What repairs one row."""
    match kind:
        case "lost_job":
            return "restore_job" if row["in_trash"] else "write_event"
        case "dead_job":
            return "retry_job"
        case "stuck_with_job":
            return "purge_event" if row["job_status"] == "DONE" else "retry_event"
        case "silent":
            return "reclaim_event"
    return "retry_event" if row["status"] == "pending" else "leave"


def repair(
    person: Person, kind: str, reason: str, *, seen: datetime | None = None, limit: int = MOST_AT_ONCE
) -> Repaired:
    """Repairs a kind: what has not changed since `seen`, the oldest `limit` of it. All of it or nothing.

    Raises `InvalidInput` that names the field.
    """
    required(reason)
    if not 1 <= limit <= MOST_AT_ONCE:
        raise InvalidInput("limit", f"it must lie between 1 and {MOST_AT_ONCE}")
    repaired = Repaired()
    with transaction.atomic():
        contradictions.lock()
        rows, total = plan(kind, limit, seen)
        repaired.more = total > len(rows)
        for step in STEPS:
            if chosen := [row for row in rows if row["step"] == step]:
                _STEPS[step](person, chosen, reason.strip(), repaired)
        if repaired.done:
            audited(
                person,
                "ledger_repair",
                KINDS[kind].key,
                reason,
                numbers=dict(repaired.done) | {"left": len(repaired.left)},
                before={row["id"]: _kept(row) for row in rows[: audit.MOST_IDS] if row["id"] not in repaired.left},
            )
    return repaired


# --- The steps --------------------------------------------------------------------------------------------------------


def _restore_jobs(person: Person, rows: Sequence[Row], reason: str, repaired: Repaired) -> None:
    moved = transitions.restore(_jobs(rows), actor=person.actor, reason=reason)
    _count_jobs("restore_job", rows, moved, repaired)


def _retry_jobs(person: Person, rows: Sequence[Row], reason: str, repaired: Repaired) -> None:
    moved = transitions.retry(_jobs(rows), actor=person.actor, reason=reason)
    _count_jobs("retry_job", rows, moved, repaired)


def _write_events(person: Person, rows: Sequence[Row], reason: str, repaired: Repaired) -> None:
    for row in rows:
        try:
            payload = json.loads(contradictions.payload_of(row["id"]) or "{}")
            outbox.enqueue(
                company_id=row["company_id"],
                document_id=row["document_id"],
                hook_type=row["hook_type"],
                payload=payload,
            )
        except (InvalidInput, ValueError, RecursionError) as error:
            repaired.left[row["id"]] = str(error)[:300]
        else:
            repaired.done["write_event"] += 1


def _retry_events(person: Person, rows: Sequence[Row], reason: str, repaired: Repaired) -> None:
    _count_events("retry_event", outbox.retry(_events(rows), conf().ledger_max_attempts), repaired)


def _purge_events(person: Person, rows: Sequence[Row], reason: str, repaired: Repaired) -> None:
    _count_events("purge_event", outbox.purge(_events(rows), conf().ledger_max_attempts), repaired)


def _reclaim(person: Person, rows: Sequence[Row], reason: str, repaired: Repaired) -> None:
    repaired.done["reclaim_event"] += outbox.reclaim_stale_running(conf().ledger_stale, MOST_AT_ONCE)


def _leave(person: Person, rows: Sequence[Row], reason: str, repaired: Repaired) -> None:
    repaired.left |= {row["id"]: "it runs" for row in rows}


_STEPS: dict[str, Callable[[Person, Sequence[Row], str, Repaired], None]] = {
    "restore_job": _restore_jobs,
    "write_event": _write_events,
    "retry_job": _retry_jobs,
    "retry_event": _retry_events,
    "purge_event": _purge_events,
    "reclaim_event": _reclaim,
    "leave": _leave,
}


def _count_jobs(step: str, rows: Sequence[Row], moved: Sequence[transitions.Moved], repaired: Repaired) -> None:
    answers = {one.job_id: one for one in moved}
    for row in rows:
        answer = answers.get(row["job_id"])
        if answer is not None and answer.changed:
            repaired.done[step] += 1
        else:
            repaired.left[row["id"]] = str(answer.refusal(step)) if answer else "its job is gone"


def _count_events(step: str, moved: Sequence[outbox.Moved], repaired: Repaired) -> None:
    for one in moved:
        if one.changed:
            repaired.done[step] += 1
        else:
            repaired.left[one.event_id] = f"it is {one.found or 'gone'} by now"


def _jobs(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["job_id"] for row in rows))


def _events(rows: Sequence[Row]) -> list[str]:
    return [row["id"] for row in rows]


def _kept(row: Row) -> dict[str, Any]:
    names = ("step", "company_id", "document_id", "hook_type", "status", "attempts", "job_id", "job_status")
    return {name: row[name] for name in names}
