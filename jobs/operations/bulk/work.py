"""Works on an operation for a moment at a time, so that many share one thread and a pause is obeyed at once.

A batch is one short transaction: the operation is locked, jobs that others have locked are passed over, the door changes
the rest, and what became of each row is written with the change itself. A worker that is killed leaves nothing half done:
whoever takes over goes on with the rows that have no outcome.
"""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
import structlog
from django.db import DatabaseError, OperationalError, transaction

from jobs import audit
from jobs.domain.bulk import OperationState
from jobs.domain.errors import JobsError
from jobs.operations.bulk import brake, doing
from jobs.operations.bulk.pace import Pace, pace
from jobs.operations.bulk.size import LARGEST, SMALLEST, Size
from jobs.operations.bulk.steer import numbers
from jobs.queue import operations
from jobs.queue.operations import Counted, Decided, Item, Taken

log = structlog.get_logger("jobs.operations")

# Between two batches the database belongs to the claims.
REST, LONGEST_REST_SECONDS = 0.15, 0.05
# How much of a rate's allowance may be used at once.
BURST_SECONDS = 2.0
# Soon enough that nobody takes over meanwhile.
LONGEST_DELAY = 2.0
LOCKED_DELAY = 0.5
LONGEST_ERROR = 500
# Another transaction was in the way: the rows are fine.
_IN_THE_WAY = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)


@dataclass
class Progress:
    """After a slice. `delay`: seconds until the next one; None: nothing is left to do for whoever asked."""

    delay: float | None
    counted: Counted | None = None


def new_runner() -> str:
    """Names one chain of slices. Of two chains only one goes on."""
    return secrets.token_hex(8)


def abandoned() -> list[int]:
    """Operations that should move and that nobody moves."""
    return operations.left()


def work(operation_id: int, runner: str, seconds: float) -> Progress:
    """Works for about so long, at least one batch. May be killed at any point. Raises when the database is away."""
    operation = operations.take(operation_id, runner)
    if operation is None:
        return Progress(None)
    if (why := brake.tripped(operation)) is not None:
        _brake(operation, why)
        return Progress(None)
    return _Slice(operation, runner, time.monotonic() + seconds, pace(operation.id, operation.options)).run()


def _brake(operation: Taken, why: str) -> None:
    with transaction.atomic():
        row = operations.move(
            operation.id, to=OperationState.BRAKED.value, sources=[OperationState.RUNNING.value], note=why
        )
        if row is None or not row["changed"]:
            return
        audit.record(
            actor="brake", action="brake_operation", target=f"operation {operation.id}", reason=why,
            numbers=numbers(row), operation_id=operation.id,
        )  # fmt: skip
    log.warning("operation.braked", operation=operation.id, why=why)


class _Slice:
    """One go at one operation."""

    def __init__(self, operation: Taken, runner: str, deadline: float, pace: Pace) -> None:
        self._operation, self._runner, self._deadline = operation, runner, deadline
        self._rate, self._room = pace.rate, pace.room
        self._size, self._looked_at = Size(), 0
        self._before, self._after = operation.reached, operation.reached
        self._resumed = operation.reached > 0
        self._counted: Counted | None = None

    def run(self) -> Progress:
        """Batch after batch, until the time is over or there is a reason to wait."""
        delay: float | None = 0.0
        while delay == 0.0:
            delay = self._next()
            if time.monotonic() >= self._deadline:
                break
        return Progress(delay, self._counted)

    def _next(self) -> float | None:
        """One batch. Seconds until the next; None: this chain ends."""
        began = time.monotonic()
        try:
            delay = self._batch()
        except (DatabaseError, psycopg.Error, JobsError) as error:
            if isinstance(error.__cause__, _IN_THE_WAY):
                self._size.halve()
                return LOCKED_DELAY
            if isinstance(error, OperationalError):
                raise
            log.warning("operation.batch_failed", operation=self._operation.id, error=str(error)[:LONGEST_ERROR])
            return self._one_by_one()
        took = max(time.monotonic() - began, 0.001)
        if delay == 0.0:
            self._size.took(self._looked_at, took)
            time.sleep(min(took * REST, LONGEST_REST_SECONDS))
        return delay

    def _batch(self) -> float | None:
        with transaction.atomic():
            allowed = self._allowed()
            if allowed is None:
                return None
            if not allowed:
                operations.beat(self._operation.id, self._runner)
                return self._until_allowed()
            self._before = self._after
            items = self._items(min(self._size.rows, allowed))
            self._looked_at = len(items)
            if items:
                self._after = items[-1].position
                if decided := doing.batch(self._operation, items):
                    self._write(decided)
                return 0.0
        return self._came_to_the_end()

    def _items(self, limit: int) -> Sequence[Item]:
        """The next rows; behind the last one those that an earlier slice had to pass over."""
        items = operations.items(self._operation.id, self._after, limit)
        if not items and self._resumed and not self._all_decided():
            self._resumed, self._before, self._after = False, 0, 0
            items = operations.items(self._operation.id, 0, limit)
        return items

    def _all_decided(self) -> bool:
        """By the counters, so that a set of a million rows is not gone through to find that none is left."""
        at = self._counted
        return at is not None and at.done + at.skipped + at.failed >= at.total

    def _came_to_the_end(self) -> float | None:
        """The operation is over; else rows that were locked are tried again."""
        if self._end() or not self._after:
            return None
        self._after = 0
        operations.beat(self._operation.id, self._runner)
        return LOCKED_DELAY

    def _allowed(self) -> int | None:
        """How many rows may be touched now; None: it is not ours to move any more."""
        idle = operations.lock(self._operation.id, self._runner)
        if idle is None:
            return None
        most = LARGEST if self._room is None else min(LARGEST, self._room)
        if self._rate is None:
            return most
        return min(most, int(min(idle, self._burst(self._rate)) * self._rate / 60 + 1e-6))

    def _burst(self, rate: float) -> float:
        return max(BURST_SECONDS, 60 / rate)

    def _until_allowed(self) -> float:
        if self._room == 0:
            return LOCKED_DELAY
        return min(LONGEST_DELAY, 60 / (self._rate or 60))

    def _write(self, decided: Sequence[Decided]) -> None:
        if self._room is not None:
            self._room -= sum(one.outcome == "done" for one in decided)
        self._counted = operations.write(
            self._operation.id, decided, reached=self._after, rate=self._rate,
            burst_seconds=self._burst(self._rate) if self._rate else BURST_SECONDS,
        )  # fmt: skip

    def _one_by_one(self) -> float | None:
        """The batch broke: its first rows each alone, so that the broken ones are named and the others done."""
        self._size.rows, self._after = SMALLEST, self._before
        items = operations.items(self._operation.id, self._before, SMALLEST)
        if not items:  # it broke at the end, with all rows decided: the end is tried again, in a while
            return LONGEST_DELAY
        for item in items:
            self._after = item.position
            try:
                with transaction.atomic():
                    if self._allowed() is None:
                        return None
                    if decided := doing.batch(self._operation, [item]):
                        self._write(decided)
            except (DatabaseError, psycopg.Error, JobsError) as error:
                if isinstance(error.__cause__, _IN_THE_WAY):
                    continue
                if isinstance(error, OperationalError):
                    raise
                if not self._failed(item, error):
                    return None
        return 0.0

    def _failed(self, item: Item, error: Exception) -> bool:
        with transaction.atomic():
            if operations.lock(self._operation.id, self._runner) is None:
                return False
            text = (str(error).strip().splitlines() or [type(error).__name__])[0][:LONGEST_ERROR]
            self._write([Decided(item.position, "failed", text)])
        return True

    def _end(self) -> bool:
        with transaction.atomic():
            counted = operations.end(self._operation.id, self._runner)
            if counted is None:
                return False
            self._counted = counted
            audit.record(
                actor=self._operation.actor, action=f"bulk_{self._operation.kind.value}_ended",
                target=f"operation {self._operation.id}", reason=self._operation.reason,
                numbers={"done": counted.done, "skipped": counted.skipped, "failed": counted.failed,
                         "total": counted.total}, operation_id=self._operation.id,
            )  # fmt: skip
        log.info("operation.done", operation=self._operation.id, done=counted.done, skipped=counted.skipped,
                 failed=counted.failed)  # fmt: skip
        return True
