"""Holds, goes on with and ends operations: by people, audited; a step takes effect when the batch under way is done."""

from collections.abc import Collection
from typing import Any

from django.db import transaction

from jobs.domain.bulk import HELD, MOVING, OPEN, STATE_WORDS, OperationState, Options
from jobs.domain.errors import OperationNotFound, OperationRefused
from jobs.operations.actions import Person, audited, required
from jobs.operations.bulk.wake import wake
from jobs.queue import operations
from jobs.rows import Row


def pause(person: Person, operation_id: int, reason: str) -> None:
    """Nothing more is touched until somebody goes on."""
    _step(person, "pause", operation_id, reason, OperationState.PAUSED, MOVING)


def resume(person: Person, operation_id: int, reason: str, rate: int | None = None) -> None:
    """Goes on, at another rate if one is given. The brake judges what is released from now on."""
    Options(rate=rate).check_bounds()
    changed: dict[str, Any] = {} if rate is None else {"rate": rate}
    with transaction.atomic():
        _step(person, "resume", operation_id, reason, OperationState.PENDING, HELD, changed)
        wake(operation_id)


def stop(person: Person, operation_id: int, reason: str) -> None:
    """For good: what is done stays done, the rest is left as it is."""
    _step(person, "stop", operation_id, reason, OperationState.STOPPED, OPEN)


def _step(
    person: Person,
    step: str,
    operation_id: int,
    reason: str,
    to: OperationState,
    sources: Collection[OperationState],
    options: dict[str, Any] | None = None,
) -> None:
    required(reason)
    with transaction.atomic():
        row = operations.move(operation_id, to=to.value, sources=sorted(sources), options=options)
        if row is None:
            raise OperationNotFound(operation_id)
        if not row["changed"]:
            raise OperationRefused(step, operation_id, STATE_WORDS.get(row["found"], str(row["found"])))
        audited(
            person, f"{step}_operation", f"operation {operation_id}", reason, operation_id=operation_id,
            numbers=numbers(row), before={"state": row["found"]}, after={"state": to.value} | (options or {}),
        )  # fmt: skip


def numbers(row: Row) -> dict[str, int]:
    """How far it was, for the audit."""
    return {name: row[name] for name in ("done", "skipped", "failed", "total")}
