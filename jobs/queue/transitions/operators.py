"""What operators and admins do to jobs, by their ids."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
import structlog
from django.db import IntegrityError

from jobs.domain.errors import CannotResume, DuplicateJob, JobNotFound, JobsError, TransitionRefused
from jobs.domain.states import state, word
from jobs.queue.statements import Connection, run, transaction
from jobs.rows import Row

log = structlog.get_logger("jobs.door")

# Another job may take one of the unique keys just then.
_RETRY_TRIES = 5
# Of more jobs changed at once one line is logged.
_MOST_LINES = 20


@dataclass(frozen=True)
class Moved:
    """One job's answer. `found` is the state it was in (None: no such job), `now` what it became (None: unchanged).

    `holder`: the job that has its unique key. `obstacle`: why it cannot go on from its checkpoint.
    """

    job_id: str
    found: str | None
    now: str | None
    holder: str | None = None
    obstacle: str | None = None

    @property
    def changed(self) -> bool:
        return self.now is not None

    def refusal(self, transition: str) -> Exception:
        """The error that says why nothing was changed."""
        if self.found is None:
            return JobNotFound(self.job_id)
        if self.holder is not None:
            return DuplicateJob("of this job", self.holder)
        if self.obstacle is not None:
            return CannotResume(self.job_id, self.obstacle)
        return TransitionRefused(transition, self.job_id, word(self.found))


def request_cancel(job_ids: Sequence[str], *, actor: str, reason: str, using: Connection | None = None) -> list[Moved]:
    """Cancels waiting jobs at once and asks running ones to stop."""
    return _move("request_cancel", job_ids, actor, reason, using)


def force_cancel(job_ids: Sequence[str], *, actor: str, reason: str, using: Connection | None = None) -> list[Moved]:
    """Ends runs without their worker's word and fences them off."""
    return _move("force_cancel", job_ids, actor, reason, using)


def retry(
    job_ids: Sequence[str],
    *,
    actor: str,
    reason: str,
    keep_checkpoint: bool = True,
    must_resume: bool = False,
    restart_outdated: bool = False,
    priority: int | None = None,
    using: psycopg.Connection[Any] | None = None,
) -> list[Moved]:
    """Out of the DLQ with a fresh retry budget; from the checkpoint where there is one, or from the start; at `priority` at
    most.

    A checkpoint that another version of the handler wrote is an obstacle, unless `restart_outdated` lets those jobs start
    over; so is a missing one if the job `must_resume`.
    """
    how = {"keep_checkpoint": keep_checkpoint, "must_resume": must_resume, "restart_outdated": restart_outdated}
    for _ in range(_RETRY_TRIES):
        try:
            with transaction(using):
                return _move("retry", job_ids, actor, reason, using, priority=priority, **how)
        except (psycopg.errors.UniqueViolation, IntegrityError):
            continue  # another job took one of the unique keys just now: now it is seen, and named
    raise JobsError("other jobs keep taking the unique keys of these; nothing changed, try again")


def run_now(job_ids: Sequence[str], *, actor: str, reason: str, using: Connection | None = None) -> list[Moved]:
    """Ends the wait before a retry. Caps and pauses still hold."""
    return _move("run_now", job_ids, actor, reason, using)


def set_priority(
    job_ids: Sequence[str], *, priority: int, actor: str, reason: str, using: Connection | None = None
) -> list[Moved]:
    """Another priority for jobs that wait; higher goes first."""
    return _move("set_priority", job_ids, actor, reason, using, priority=priority)


def purge(
    job_ids: Sequence[str], *, actor: str, reason: str, operation_id: int | None = None, using: Connection | None = None
) -> list[Moved]:
    """Moves ended jobs to the trash."""
    return _move("purge", job_ids, actor, reason, using, operation_id=operation_id)


def restore(job_ids: Sequence[str], *, actor: str, reason: str, using: Connection | None = None) -> list[Moved]:
    """Brings jobs back from the trash, to the state they had."""
    return _move("restore", job_ids, actor, reason, using)


def _move(
    name: str, job_ids: Sequence[str], actor: str, reason: str, using: Connection | None, **more: Any
) -> list[Moved]:
    ids = list(dict.fromkeys(job_ids))
    rows = {row["id"]: row for row in run(name, {"ids": ids, "actor": actor, "reason": reason} | more, using)}
    answers = [_moved(job_id, rows.get(job_id)) for job_id in ids]
    changed = [answer for answer in answers if answer.changed]
    if len(changed) > _MOST_LINES:  # each is in the history
        log.info(f"job.{name}", jobs=len(changed), first=changed[0].job_id, actor=actor)
        return answers
    for answer in changed:
        log.info(f"job.{name}", job=answer.job_id, found=answer.found, now=answer.now, actor=actor)
    return answers


def _moved(job_id: str, row: Row | None) -> Moved:
    if row is None:
        return Moved(job_id, None, None)
    return Moved(job_id, state(row["found"], row["found_dlq"]), row["now_is"], row.get("holder"), row.get("obstacle"))
