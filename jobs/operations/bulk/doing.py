"""One batch: each job is judged as it is now, changed through the door, and what became of it is said."""

from collections.abc import Callable, Sequence

from jobs.domain.bulk import (
    EARLIER_IN_TRASH,
    GONE,
    ID_TAKEN,
    KEY_HELD,
    NO_CHECKPOINT,
    NOT_IN_TRASH,
    REDRIVEN,
    SPECS,
    Kind,
)
from jobs.domain.errors import JobNotFound, TransitionRefused
from jobs.domain.states import word
from jobs.queue import operations, transitions
from jobs.queue.operations import Decided, Found, Item, Taken
from jobs.queue.transitions import Moved

# What ended and has ended anew since is not what was shown: a dead letter that was redriven may be a good result by now.
_OF_ENDED = frozenset({Kind.RETRY, Kind.RERUN, Kind.PURGE})


def batch(operation: Taken, items: Sequence[Item]) -> list[Decided]:
    """Changes what may be changed, in the caller's transaction. Rows that somebody else has locked are left out."""
    if operation.kind is Kind.RESTORE:
        return _act(operation, items)
    now = operations.jobs_now([item.job_id for item in items])
    decided, chosen = [], []
    for item in items:
        found = now[item.job_id]
        if found.locked:
            continue
        if (reason := _obstacle(operation, item, found)) is not None:
            decided.append(Decided(item.position, "skipped", reason))
        else:
            chosen.append(item)
    return decided + _act(operation, chosen)


def _obstacle(operation: Taken, item: Item, found: Found) -> str | None:
    """Why a job is left as it is, or None. The states that were asked for are asked again: nothing else was shown."""
    allowed = SPECS[operation.kind].states
    wanted = allowed.intersection(operation.options.states) if operation.options.states else allowed
    if found.state is None:
        return GONE
    if found.state not in wanted:
        return f"it is {word(found.state)}" if found.state == item.state else f"it became {word(found.state)}"
    if operation.kind in _OF_ENDED and found.redrives != item.redrives:
        return REDRIVEN
    if operation.kind in _OF_ENDED and found.state != item.state:
        return f"it became {word(found.state)}"
    if operation.kind is Kind.RETRY and operation.options.kept_only and not found.kept:
        return NO_CHECKPOINT
    return None


def _act(operation: Taken, items: Sequence[Item]) -> list[Decided]:
    if not items:
        return []
    if operation.kind is Kind.RERUN:
        return [_rerun(operation, item) for item in items]
    moved = _DOORS[operation.kind](operation, [item.job_id for item in items])
    answers = {one.job_id: one for one in moved}
    return [_outcome(operation, item, answers[item.job_id]) for item in items]


def _why(operation: Taken) -> str:
    """What the history of each job says: the reason, and which operation it was."""
    return f"{operation.reason} (operation {operation.id})"


def _rerun(operation: Taken, item: Item) -> Decided:
    try:
        made = transitions.rerun(item.job_id, actor=operation.actor, reason=_why(operation))
    except JobNotFound:
        return Decided(item.position, "skipped", GONE)
    except TransitionRefused as error:
        return Decided(item.position, "skipped", f"it is {error.found}")
    return Decided(item.position, "done", None, made)


def _outcome(operation: Taken, item: Item, answer: Moved) -> Decided:
    if answer.changed:
        return Decided(item.position, "done")
    if answer.holder is not None:
        return Decided(item.position, "skipped", KEY_HELD, answer.holder)
    if answer.obstacle is not None:
        return Decided(item.position, "skipped", answer.obstacle)
    if operation.kind is Kind.RESTORE:
        return Decided(item.position, "skipped", NOT_IN_TRASH if answer.found is None else ID_TAKEN)
    if answer.found is not None and answer.found.startswith("TRASH"):
        return Decided(item.position, "skipped", EARLIER_IN_TRASH)
    return Decided(item.position, "skipped", GONE if answer.found is None else f"it is {word(answer.found)}")


def _cancel(operation: Taken, ids: Sequence[str]) -> list[Moved]:
    return transitions.request_cancel(ids, actor=operation.actor, reason=_why(operation))


def _retry(operation: Taken, ids: Sequence[str]) -> list[Moved]:
    options = operation.options
    return transitions.retry(
        ids, actor=operation.actor, reason=_why(operation), keep_checkpoint=options.keep_checkpoint,
        restart_outdated=options.outdated, priority=options.priority,
    )  # fmt: skip


def _run_now(operation: Taken, ids: Sequence[str]) -> list[Moved]:
    return transitions.run_now(ids, actor=operation.actor, reason=_why(operation))


def _priority(operation: Taken, ids: Sequence[str]) -> list[Moved]:
    priority = operation.options.priority or 0
    return transitions.set_priority(ids, priority=priority, actor=operation.actor, reason=_why(operation))


def _purge(operation: Taken, ids: Sequence[str]) -> list[Moved]:
    return transitions.purge(ids, actor=operation.actor, reason=_why(operation), operation_id=operation.id)


def _restore(operation: Taken, ids: Sequence[str]) -> list[Moved]:
    return transitions.restore(ids, actor=operation.actor, reason=_why(operation))


_DOORS: dict[Kind, Callable[[Taken, Sequence[str]], list[Moved]]] = {
    Kind.CANCEL: _cancel,
    Kind.RETRY: _retry,
    Kind.RUN_NOW: _run_now,
    Kind.PRIORITY: _priority,
    Kind.PURGE: _purge,
    Kind.RESTORE: _restore,
}
