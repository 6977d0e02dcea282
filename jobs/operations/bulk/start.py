"""Begins an operation: the set is frozen and the reason kept in one transaction, the work is a worker's."""

from dataclasses import replace
from typing import NamedTuple

import structlog
from django.db import OperationalError, transaction
from psycopg.errors import QueryCanceled

from jobs.domain.bulk import Kind, Options
from jobs.domain.errors import InvalidInput, NothingToDo, SetGrew
from jobs.operations.actions import Person, audited, required
from jobs.operations.bulk.wake import wake
from jobs.queue import operations
from jobs.queue.operations import FREEZE_SECONDS, Selection

log = structlog.get_logger("jobs.operations")

# What may join between the look and the word, without a second look.
FEW_MORE, SHARE_MORE = 10, 0.05


class Started(NamedTuple):
    """An operation; `fresh` false: the same request had begun it before."""

    id: int
    total: int
    fresh: bool


def start(
    person: Person,
    kind: Kind,
    selection: Selection,
    *,
    reason: str,
    options: Options | None = None,
    key: str | None = None,
    preview: str | None = None,
    expected: int | None = None,
    wakes: bool = True,
) -> Started:
    """Freezes what matches now and has it worked on. The same `key` of one person twice is one operation, and so is the same
    `preview`, whoever confirms it.

    `expected`: how many the person saw. Raises `InvalidInput`, `NothingToDo`, `SetGrew`; then nothing was done.
    """
    required(reason)
    options = replace(options or Options(), shown=expected)
    options.check(kind)
    try:
        mark = _mark(preview) if preview is not None else None if key is None else f"{person.actor}:{key}"
        return _start(person, kind, selection, reason, options, mark, expected, wakes)
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise InvalidInput(
                "filter", f"what matches is not collected within {FREEZE_SECONDS} s; narrow it"
            ) from error
        raise


def _start(
    person: Person,
    kind: Kind,
    selection: Selection,
    reason: str,
    options: Options,
    key: str | None,
    expected: int | None,
    wakes: bool,
) -> Started:
    with transaction.atomic():
        operation_id, total, fresh = operations.begin(
            kind, selection, actor=person.actor, reason=reason.strip(), options=options,
            key=key,
        )  # fmt: skip
        if fresh:
            _check(total, expected)
            audited(
                person, f"bulk_{kind.value}", f"operation {operation_id}", reason,
                filter=selection.filter, numbers={"jobs": total}, after=options.as_json(), operation_id=operation_id,
            )  # fmt: skip
            if wakes:
                wake(operation_id)
    if fresh:
        log.info("operation.begun", operation=operation_id, kind=kind.value, jobs=total, actor=person.actor)
    return Started(operation_id, total, fresh)


def begun(preview: str) -> int | None:
    """The operation that a preview was confirmed to; None: it was not."""
    return operations.of_key(_mark(preview))


def _mark(preview: str) -> str:
    # No name of a person is empty, so that no key of a person's reads like it.
    return f":preview:{preview}"


def _check(total: int, expected: int | None) -> None:
    if not total:
        raise NothingToDo
    if expected is not None and total > expected + max(FEW_MORE, int(SHARE_MORE * expected)):
        raise SetGrew(expected, total)
