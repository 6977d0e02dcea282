"""The ledger's door: whatever changes an event's status is here. No policy, no loops.

Every change is one statement, guarded by what it expects. A drainer may change only what it has claimed: the claim's
token and attempt stand in each guard, so that one that was given up for lost and comes back changes nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog
from django.db import transaction

from jobs.domain.errors import InvalidInput
from jobs.domain.ids import new_id
from jobs.domain.json_text import json_text
from jobs.domain.text import NUL_OR_SURROGATE, clean_text
from jobs.domain.values import check_json
from jobs.ledger.hooks import Event
from jobs.ledger.statements import run
from jobs.rows import Row

log = structlog.get_logger("jobs.ledger")

LONGEST_ERROR = 2_000
LONGEST_NAME = 300
MOST_LISTED = 200
MOST_PAYLOAD_BYTES = 1_000_000


def _nobody(document_id: str) -> None:
    """Nobody drains at once in this process: the sweep of a worker does."""


# Called after the commit of an event with its document. A hint: nothing depends on its arriving.
_wake: Callable[[str], None] = _nobody


def wake_by(wake: Callable[[str], None]) -> None:
    """Says what is called once an event is committed; it gets the document's id."""
    global _wake
    _wake = wake


@dataclass(frozen=True)
class NewEvent:
    """A hook to be written with a document."""

    hook_type: str
    payload: Any = None


@dataclass(frozen=True)
class Moved:
    """What became of one event that a person asked to change. `found`: its status then, or None if there is none."""

    event_id: str
    changed: bool
    found: str | None
    row: Row


# --- Writing ----------------------------------------------------------------------------------------------------------


def enqueue(*, company_id: str, document_id: str, hook_type: str, payload: Any = None) -> str:
    """A hook that must run, pending, in the caller's transaction. Returns the event's id.

    `payload` is JSON, by default `{}`. Raises `InvalidInput` that names the field.
    """
    for name, value in (("company_id", company_id), ("document_id", document_id), ("hook_type", hook_type)):
        _check_name(name, value)
    value = check_json({} if payload is None else payload, MOST_PAYLOAD_BYTES, field="payload")
    event_id = new_id()
    run(
        "write_event",
        {
            "id": event_id,
            "company_id": company_id,
            "document_id": document_id,
            "hook_type": hook_type,
            "payload": json_text(value),
        },
    )
    transaction.on_commit(lambda: _wake(document_id), robust=True)
    return event_id


def create_document_with_lifecycle(save: Callable[[], str], *, company_id: str, hooks: Sequence[NewEvent]) -> str:
    """Saves a document and its hooks in one transaction: both are there, or neither.

    `save` writes the document and returns its id, which is returned. Raises whatever `save` raises, and `InvalidInput`.
    """
    with transaction.atomic():
        document_id = save()
        for one in hooks:
            enqueue(company_id=company_id, document_id=document_id, hook_type=one.hook_type, payload=one.payload)
    return document_id


def _check_name(field: str, value: str) -> None:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(field, "it is empty")
    if len(value) > LONGEST_NAME:
        raise InvalidInput(field, f"it is longer than {LONGEST_NAME} characters")
    if NUL_OR_SURROGATE.search(value):
        raise InvalidInput(field, "it holds a character that cannot be stored (NUL or half of a pair)")


def link_job(event: Event, job_id: str) -> None:
    """Notes the job that an event made; to be called in the transaction that makes it."""
    run("link_job", {"event_id": event.id, "document_id": event.document_id, "job_id": job_id})


# --- Draining ---------------------------------------------------------------------------------------------------------


def claim_pending_batch(limit: int, max_attempts: int, document_id: str | None = None) -> list[Event]:
    """The oldest events that may run, now running and ours; those of one document, if it is named."""
    params = {"limit": limit, "max_attempts": max_attempts, "document_id": document_id, "token": new_id()}
    with transaction.atomic():
        run("in_order", {})
        return [Event(**row) for row in run("claim_events", params)]


def beat(token: str) -> None:
    """Says that the claim's process lives, for all its events that are still running."""
    run("beat_events", {"token": token})


def release(events: Sequence[Event]) -> int:
    """Puts back events that were claimed and not begun. Their attempt is not counted."""
    if not events:
        return 0
    return len(run("release_events", {"ids": [event.id for event in events], "token": events[0].claim_token}))


def end_backend(backend: int) -> None:
    """Ends a session of this program, whose thread hangs: its transaction is undone, and what it has locked is free."""
    run("end_backend", {"backend": backend})


def mark_succeeded(event: Event) -> bool:
    """The run went well. False when the claim is no longer ours: nothing was changed."""
    return mark_all_succeeded([event]) == 1


def mark_all_succeeded(events: Sequence[Event]) -> int:
    """The runs of events of one claim went well. Returns how many of them were still ours, and are changed."""
    params = {
        "ids": [event.id for event in events],
        "attempts": events[0].attempts,  # of one claim: all were new, or it is one alone
        "token": events[0].claim_token,
        "twins": [twin for event in events for twin in event.twins],
        "twins_of": [event.id for event in events for _ in event.twins],
    }
    return int(run("mark_succeeded", params)[0]["changed"])


def mark_failed(event: Event, error: object) -> bool:
    """The run failed for good; the error is cut. False when the claim is no longer ours."""
    return bool(run("mark_failed", _fence(event) | {"error": cut_error(error)}))


def mark_retryable(event: Event, error: object, delay_seconds: float = 0.0) -> bool:
    """The run failed and is tried again, `delay_seconds` from now at the earliest. False when it is no longer ours."""
    params = {"error": cut_error(error), "delay_seconds": delay_seconds}
    return bool(run("mark_retryable", _fence(event) | params))


def reclaim_stale_running(cutoff: timedelta, limit: int = 500) -> int:
    """Takes back a batch of events without a word for longer than `cutoff`, by the database's clock. Returns how many."""
    rows = run("reclaim_events", {"stale_seconds": cutoff.total_seconds(), "limit": limit})
    for row in rows[:10]:
        log.warning("ledger.reclaimed", event_id=row["id"], attempts=row["attempts"])
    if len(rows) > 10:
        log.warning("ledger.reclaimed_more", events=len(rows) - 10)
    return len(rows)


def _fence(event: Event) -> Row:
    return {"id": event.id, "attempts": event.attempts, "token": event.claim_token}


def cut_error(error: object) -> str:
    """An error as it is kept: at most 2,000 characters, and storable."""
    text = clean_text(error).strip() or type(error).__name__
    return text if len(text) <= LONGEST_ERROR else text[: LONGEST_ERROR - 1] + "…"


# --- Looking ----------------------------------------------------------------------------------------------------------


def pending_for_document(document_id: str) -> list[Row]:
    """What still has to run for a document, oldest first."""
    return run("pending_for_document", {"document_id": document_id})


def failed_for_company(company_id: str) -> list[Row]:
    """What failed for a company, newest change first, 200 at most."""
    return run("failed_for_company", {"company_id": company_id, "limit": MOST_LISTED})


def exhausted(max_attempts: int) -> list[Row]:
    """What is pending and has no attempt left, newest change first, 200 at most."""
    return run("exhausted", {"max_attempts": max_attempts, "limit": MOST_LISTED})


def status_counts(max_attempts: int, most: int = 10_000, companies: Sequence[str] | None = None) -> list[Row]:
    """Open events by hook type, and those that succeeded in the last hour; each kind counted no further than `most`.

    `companies` None: of all.
    """
    params = {"max_attempts": max_attempts, "most": most, "companies": None if companies is None else list(companies)}
    return run("status_counts", params)


def oldest_due_seconds(max_attempts: int) -> float | None:
    """How long the oldest event that may run has waited; None when nothing waits."""
    rows = run("oldest_due", {"max_attempts": max_attempts})
    return rows[0]["seconds"] if rows else None


# --- What people do ---------------------------------------------------------------------------------------------------


def stuck_ids(
    state: str,
    max_attempts: int,
    limit: int,
    *,
    company_id: str | None = None,
    document_id: str | None = None,
    hook_type: str | None = None,
    seen: Any = None,
) -> list[str]:
    """Ids of failed or exhausted events under a filter, locked until the transaction ends. `state`: failed, exhausted or
    stuck (both). `seen`: only those that have not changed since that moment."""
    params = {
        "state": state,
        "max_attempts": max_attempts,
        "limit": limit,
        "company_id": company_id,
        "document_id": document_id,
        "hook_type": hook_type,
        "seen": seen,
    }
    return [row["id"] for row in run("stuck_ids", params)]


def retry(ids: Sequence[str], max_attempts: int) -> list[Moved]:
    """Failed and exhausted events wait again with all their attempts; others stay as they are, and are told of."""
    answers = _move("retry_events", ids, max_attempts)
    for document_id in sorted({one.row["document_id"] for one in answers if one.changed}):
        transaction.on_commit(lambda document_id=document_id: _wake(document_id), robust=True)  # type: ignore[misc]
        break  # one call wakes the drainer; its sweep finds the rest
    return answers


def purge(ids: Sequence[str], max_attempts: int) -> list[Moved]:
    """Failed and exhausted events go for good; others stay as they are, and are told of."""
    return _move("purge_events", ids, max_attempts)


def _move(statement: str, ids: Sequence[str], max_attempts: int) -> list[Moved]:
    wanted = [one for one in dict.fromkeys(ids) if not NUL_OR_SURROGATE.search(one)]
    found = {row["id"]: row for row in run(statement, {"ids": wanted, "max_attempts": max_attempts})}
    return [
        Moved(one, bool(row and row["changed"]), row["status"] if row else None, row or {})
        for one in dict.fromkeys(ids)
        for row in [found.get(one)]
    ]
