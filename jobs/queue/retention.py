"""Retention: what is old leaves, in small batches.

Each batch is one short transaction that waits for nobody: rows that somebody has locked are passed over, no claim is held
up, and a kill loses nothing but the batch under way. Each target stands alone: one that fails is tried again later and
stops no other. How a target fares (last success, rows left, error) is kept in `sweep_duty`.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import psycopg
import structlog
from django.db import DatabaseError

from jobs.queue import transitions
from jobs.queue.statements import Connection, run

log = structlog.get_logger("jobs.retention")

BATCH = 500
EVERY = timedelta(days=1)
# How long nobody else steps in for a replica that has said nothing: one that was killed is succeeded after this.
LEASE = timedelta(seconds=30)
TRASH_KEPT = timedelta(days=7)
WORKERS_KEPT = timedelta(days=1)
FLOW_KEPT = timedelta(days=2)
MOST_COUNTED = 100_000


class Batch(NamedTuple):
    """What one batch did, and whether there may be more."""

    pruned: int
    more: bool


@dataclass(frozen=True)
class Target:
    """One kind of rows that retention deletes. `keep`: how long after their end."""

    name: str
    keep: timedelta
    prune: Callable[[int, float, Connection | None], Batch]

    @property
    def duty(self) -> str:
        """Its name among the duties of the sweep."""
        return f"prune {self.name}"


def targets(retention: timedelta, operations: timedelta) -> list[Target]:
    """Everything that retention deletes: `JOB_RETENTION_DAYS` and `OPERATION_RETENTION_DAYS` after its end."""
    return [
        Target("jobs", retention, _jobs),
        Target("trash", TRASH_KEPT, _by("prune_trash")),
        Target("history", retention, _by("prune_history")),
        Target("sessions", timedelta(0), _by("prune_sessions")),
        Target("workers", WORKERS_KEPT, _by("prune_workers")),
        Target("tallies", retention, _by("prune_tallies")),
        Target("flow", min(FLOW_KEPT, retention), _by("prune_flow")),
        Target("failures", retention, _by("prune_failures")),
        Target("ledger", retention, _by("prune_ledger")),
        Target("alerts", retention, _by("prune_alerts")),
        Target("gate", retention, _by("prune_gate_history")),
        Target("remote", retention, _by("prune_remote")),
        Target("operations", operations, _by("prune_operations")),
    ]


@dataclass
class Progress:
    """How far one target got in one go. `ended`: nothing is left to do, but for what others have locked."""

    target: Target
    pruned: int = 0
    ended: bool = False
    error: str | None = None
    rows_left: int | None = None


class Retention:
    """Prunes. `using` None: Django's connection, outside a transaction. `operations` None: they are kept as jobs are.
    `further`: what is deleted besides, by those who know how.
    """

    def __init__(
        self,
        retention: timedelta,
        using: Connection | None = None,
        *,
        operations: timedelta | None = None,
        further: Iterable[Target] = (),
    ) -> None:
        self._targets = [*targets(retention, operations or retention), *further]
        self._using = using

    def slice(self, key: datetime | None, seconds: float) -> datetime | None:
        """Works for about `seconds` on what is due, if no other replica does. Returns the key to go on with; None when
        nothing is left, or somebody else has taken over.

        Once a day, by the database's clock; a target that failed is due again at once.
        """
        due = self.due()
        if not due:
            return None
        lease = LEASE.total_seconds()
        key = self._key("continue_retention", key=key) if key else self._key("begin_retention", lease_seconds=lease)
        if key is None:
            return None
        fared = self.prune(due, seconds)
        if all(one.ended or one.error for one in fared):
            run(
                "end_retention",
                {"key": key, "lease_seconds": lease, "well": all(one.ended for one in fared)},
                self._using,
            )
            return None
        return self._key("continue_retention", key=key)

    def due(self) -> list[Target]:
        """The targets that were not done within a day."""
        names = [target.duty for target in self._targets]
        rows = run("pruned_lately", {"names": names, "every_seconds": EVERY.total_seconds()}, self._using)
        lately = {row["name"] for row in rows}
        return [target for target in self._targets if target.duty not in lately]

    def all(self) -> list[Target]:
        return list(self._targets)

    def prune(self, due: list[Target], seconds: float) -> list[Progress]:
        """One batch of each target in turn, until all are done or the time is over. Writes down how each fared."""
        deadline = time.monotonic() + seconds
        fared = [Progress(target) for target in due]
        while (open_ := list(_open(fared))) and time.monotonic() < deadline:
            for one in open_:
                self._batch(one)
        for one in fared:
            self._write_down(one)
        return fared

    def _batch(self, one: Progress) -> None:
        try:
            batch = one.target.prune(BATCH, one.target.keep.total_seconds(), self._using)
        except (psycopg.Error, DatabaseError, OSError) as error:  # a storage of files is one, too
            log.exception("retention.batch_failed", target=one.target.name)
            one.error = str(error).strip()[:2000] or type(error).__name__
        else:
            one.pruned += batch.pruned
            one.ended = not batch.more

    def _write_down(self, one: Progress) -> None:
        """Raises when the database is away: then nothing was done either."""
        try:
            one.rows_left = self._rows_left(one.target)
        except (psycopg.Error, DatabaseError) as error:
            log.warning("retention.not_counted", target=one.target.name, error=str(error).strip()[:300])
        run(
            "prune_done",
            {
                "name": one.target.duty,
                "ended": one.ended and one.error is None,
                "changed": one.pruned,
                "error": one.error,
                "rows_left": one.rows_left,
            },
            self._using,
        )

    def _rows_left(self, target: Target) -> int:
        """How many rows are old enough, counted no further than `MOST_COUNTED`."""
        params = {"keep_seconds": target.keep.total_seconds(), "most": MOST_COUNTED}
        return int(run(f"prunable_{target.name}", params, self._using)[0]["n"])

    def _key(self, statement: str, **params: datetime | float) -> datetime | None:
        rows = run(statement, params, self._using)
        return rows[0]["key"] if rows else None


def _open(fared: list[Progress]) -> Iterator[Progress]:
    return (one for one in fared if not one.ended and one.error is None)


def _jobs(limit: int, keep_seconds: float, using: Connection | None) -> Batch:
    return Batch(*transitions.prune(limit, keep_seconds=keep_seconds, using=using))


def _by(statement: str) -> Callable[[int, float, Connection | None], Batch]:
    def prune(limit: int, keep_seconds: float, using: Connection | None) -> Batch:
        row = run(statement, {"limit": limit, "keep_seconds": keep_seconds}, using)[0]
        return Batch(row["pruned"], row["more"])

    return prune
