"""What keeps the queue healthy. Each duty takes a batch, goes through the door, and repeats until a batch is short.

Idempotent, and safe in many replicas at once: rows that another sweep or anybody else has locked are passed over. Needs
no job slot and obeys no cap. One duty's error does not stop the others.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
import structlog
from psycopg import errors

from jobs.domain import actors
from jobs.domain.failures import DeadLetter, FailureType, decide, delay_seconds
from jobs.domain.fingerprint import fingerprint
from jobs.domain.outcomes import Cancelled, DeadLettered, Ended, Failure, RetryLater, Run
from jobs.domain.states import JobStatus
from jobs.queue import caps, pauses, transitions
from jobs.queue.statements import Connection, run
from jobs.rows import Row

log = structlog.get_logger("jobs.sweep")

BATCH = 500
# Deltas folded in one statement.
FOLDED = 20_000
# From so many dead rows on claims are told how far back to look, while no more than so many jobs wait; what is committed so
# much later than its own time is found by the next look.
DEAD_ROWS = 20_000
FEW_QUEUED = 5_000
LATE_SECONDS = 10
# The counters are compared with the jobs this often at most, and no more often than so many times as long as it takes.
RECOUNT_SECONDS = 60
RECOUNT_TIMES = 200
# The database is there, but somebody holds a lock or cancelled the statement: no reason to leave the other duties undone.
_IN_THE_WAY = (errors.LockNotAvailable, errors.QueryCanceled, errors.DeadlockDetected, errors.SerializationFailure)


@dataclass(frozen=True)
class Sweep:
    """One sweeper. `poll_interval` tells how often someone is expected to look for lost workers."""

    using: Connection
    stale_timeout: timedelta
    poll_interval: timedelta
    retry_jitter: float
    rng: random.Random

    def light(self) -> dict[str, int]:
        """The duties that cost nothing when there is nothing to do; every second."""
        return self._all(
            {
                "promote": self._promote,
                "expire_pauses": self._expire_pauses,
                "fold": lambda: self._fold("fold_tallies"),
                "fold_failures": lambda: self._fold("fold_failures", actor=actors.SWEEP),
            }
        )

    def full(self) -> dict[str, int]:
        """All duties; at the start and every poll interval."""
        return self.light() | self._all(
            {
                "claim_floor": self._claim_floor,
                "promote_failed": lambda: self._batches(transitions.promote_failed),
                "retry_unclassified": lambda: self._batches(transitions.retry_unclassified),
                "dead_letter": lambda: self._batches(transitions.dead_letter_failed),
                "repair": lambda: self._batches(transitions.repair),
                "expire_caps": lambda: self._batches(caps.expire),
                "rescue": self._rescue,
                "recount": self._recount,
            }
        )

    def _all(self, duties: dict[str, Callable[[], int]]) -> dict[str, int]:
        found = {name: self._one(name, duty) for name, duty in duties.items()}
        run("duties_well", {"names": [name for name, changed in found.items() if changed is not None]}, self.using)
        return {name: changed or 0 for name, changed in found.items()}

    def _one(self, name: str, duty: Callable[[], int]) -> int | None:
        """One duty; None for trouble, which is written down. Raises only what means that the database is away."""
        try:
            changed = duty()
        except psycopg.Error as error:
            if isinstance(error, psycopg.OperationalError) and not isinstance(error, _IN_THE_WAY):
                raise
            log.exception("sweep.duty_failed", duty=name)
            run("duty_done", {"name": name, "changed": 0, "error": str(error)[:2000]}, self.using)
            return None
        if changed or name == "rescue":
            run("duty_done", {"name": name, "changed": changed, "error": None}, self.using)
        return changed

    def _batches(self, move: Callable[..., list[Any]]) -> int:
        total = 0
        while True:
            moved = len(move(BATCH, actor=actors.SWEEP, using=self.using))
            total += moved
            if moved < BATCH:
                return total

    def _promote(self) -> int:
        return self._batches(transitions.promote)

    def _expire_pauses(self) -> int:
        return self._batches(pauses.expire)

    def _fold(self, statement: str, **params: str) -> int:
        total = 0
        while True:
            folded = int(run(statement, {"limit": FOLDED, **params}, self.using)[0]["folded"])
            total += folded
            if folded < FOLDED:
                return total

    def _claim_floor(self) -> int:
        """Tells claims how far back anything waits, while an old transaction keeps the rows of the past."""
        run(
            "claim_floor",
            {"least_dead": DEAD_ROWS, "most_queued": FEW_QUEUED, "late_seconds": LATE_SECONDS},
            self.using,
        )
        return 0

    def _recount(self) -> int:
        """Puts counters right that differ from what they count; how many."""
        if not run("recount_due", {}, self.using):
            return 0
        found = run("recount", {}, self.using)
        run("recount_next", {"least_seconds": RECOUNT_SECONDS, "times": RECOUNT_TIMES}, self.using)
        wrong = int(found[0]["counters"]) if found else 0
        if wrong:
            log.warning("sweep.counters_put_right", counters=wrong, jobs=int(found[0]["jobs"]))
        return wrong

    def _rescue(self) -> int:
        """Gives up runs that are silent for longer than the stale timeout, unless an outage silenced everybody."""
        gap = 2 * self.poll_interval.total_seconds() + 1
        stale = self.stale_timeout.total_seconds()
        if run("look_for_lost", {"gap_seconds": gap, "stale_seconds": stale}, self.using)[0]["in_grace"]:
            log.info("sweep.grace", reason="nobody had looked for a while: every worker gets one stale timeout")
            return 0
        total = 0
        while True:
            silent = run("silent_runs", {"stale_seconds": stale, "limit": BATCH}, self.using)
            if not silent:
                return total
            answers = transitions.rescue([self._judge(row) for row in silent], actor=actors.SWEEP, using=self.using)
            rescued = sum(answer.changed for answer in answers)
            total += rescued
            if len(silent) < BATCH or not rescued:
                return total

    def _judge(self, row: Row) -> Ended:
        of = Run(row["id"], row["worker"], row["started"])
        if row["status"] == JobStatus.CANCEL_REQUESTED:
            return Ended(of, Cancelled("its worker is gone"), beat=row["beat"])
        error = _lost(row)
        outcome = lost_run(error, row["type"], row["retry_count"], row["lost_count"], self.retry_jitter, self.rng)
        return Ended(of, outcome, beat=row["beat"])


def lost_run(
    error: str, job_type: str, retry_count: int, lost_count: int, jitter: float, rng: random.Random
) -> RetryLater | DeadLettered:
    """What becomes of a job whose process died.

    It counts as an attempt. Whether it killed the process or only ran beside what did is not known the first time, so that
    the first time never ends it; from then on it runs in a process of its own, and what dies there is its own doing.
    """
    group = fingerprint(job_type, "WorkerLost", "worker lost")
    failure = Failure(error, FailureType.INFRASTRUCTURE.value, group, lost=True)
    decision = decide(FailureType.INFRASTRUCTURE, retry_count, jitter=jitter, rng=rng)
    if not isinstance(decision, DeadLetter):
        return RetryLater(failure, decision.delay_seconds)
    if lost_count == 0:
        delay = delay_seconds(FailureType.INFRASTRUCTURE, retry_count, jitter=jitter, rng=rng)
        return RetryLater(failure, delay, "once more, in a process of its own")
    deaths = f"{error}: the worker died {lost_count + 1} times while running this job"
    return DeadLettered(Failure(deaths, failure.failure_type, group, lost=True), decision.reason)


def _lost(row: Row) -> str:
    minutes = row["silent_seconds"] / 60
    silent = f"{minutes:.0f} min" if minutes >= 2 else f"{row['silent_seconds']:.0f} s"
    return f"worker lost (no heartbeat for {silent}; {row['worker'] or 'no worker named'})"
