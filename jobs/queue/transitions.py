"""The door: every change of a job's state goes through here, one function a transition.

Each is one atomic statement guarded by the state it expects; the actor and the reason travel with it to the history.
A function that takes ids answers one `Moved` an id: a job found in another state is left as it is, and the answer says
what it was found in. Times come from the database's clock.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import psycopg
import structlog
from django.db import IntegrityError

from jobs.domain.errors import CannotResume, DuplicateJob, InvalidInput, JobNotFound, JobsError, TransitionRefused
from jobs.domain.ids import new_id
from jobs.domain.new_job import NewJob
from jobs.domain.outcomes import (
    ClaimedJob,
    ClaimRequest,
    Completed,
    EndAnswer,
    Ended,
    Run,
    Turn,
    as_json,
)
from jobs.domain.states import ENDED, state, word
from jobs.domain.text import NUL_OR_SURROGATE
from jobs.domain.values import json_text
from jobs.queue.statements import Connection, copy_in, run, transaction
from jobs.rows import Row

log = structlog.get_logger("jobs.door")
_says = logging.getLogger("jobs.door")  # asked first where thousands of lines a second would be made and dropped

# A rival that ends between our insert and our look leaves the key free again: then we insert again.
_ENQUEUE_TRIES = 5
# What a new job may be called, who it may be for. The claim's index holds the priority negated.
LONGEST_NAME = 300
MOST_PRIORITY = 2**31 - 1
LONGEST_DELAY_SECONDS = 10 * 366 * 86_400
# Of more jobs changed at once one line is logged.
MOST_LINES = 20


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


# --- New jobs ---------------------------------------------------------------------------------------------------------


def enqueue(
    *,
    type: str,
    tenant_id: str,
    actor: str,
    project_id: str | None = None,
    config: dict[str, Any] | None = None,
    name: str = "",
    priority: int = 0,
    submitted_by: str | None = None,
    unique_key: str | None = None,
    delay_seconds: float | None = None,
    reason: str = "",
    using: Connection | None = None,
) -> str:
    """A new job, QUEUED, in the caller's transaction if there is one. Returns its id.

    `config` gets `tenantId`, `projectId` and `submittedBy` too, because Node handlers read them there.
    Raises `InvalidInput` for what cannot be stored, `DuplicateJob` when another active job holds `unique_key`.
    """
    job = NewJob(type, tenant_id, project_id, config, name, priority, submitted_by, unique_key, delay_seconds)
    _check(job)
    return _insert(
        {
            "type": type,
            "tenant_id": tenant_id,
            "project_id": project_id,
            "name": name,
            "priority": priority,
            "config": json_text(job.full_config()),
            "submitted_by": submitted_by,
            "unique_key": unique_key,
            "origin_id": None,
            "checkpoint": None,
            "delay_seconds": delay_seconds,
            "actor": actor,
            "reason": reason,
        },
        using,
    )


def enqueue_many(
    jobs: Sequence[NewJob], *, actor: str, reason: str = "", using: psycopg.Connection[Any] | None = None
) -> list[str]:
    """Many new jobs, QUEUED, all or none, in the caller's transaction if there is one. Returns their ids, in order.

    Raises `InvalidInput` for what cannot be stored, `DuplicateJob` when another active job holds one of the unique keys.
    """
    for job in jobs:
        _check(job)
    keys = _distinct_keys(jobs)
    for _ in range(_ENQUEUE_TRIES):
        try:
            ids = _copy(jobs, actor, reason, using)
        except psycopg.errors.UniqueViolation:
            for key in keys:
                if holder := run("unique_key_holder", {"unique_key": key}, using):
                    raise DuplicateJob(key, holder[0]["id"]) from None
        else:
            log.info("job.enqueued_many", jobs=len(ids), first=ids[0] if ids else None, actor=actor)
            return ids
    raise DuplicateJob(keys[0], "one that ended just now")


def rerun(job_id: str, *, actor: str, reason: str, using: Connection | None = None) -> str:
    """A copy of an ended job, QUEUED, that names its origin. Returns the new id; the ended job stays as it is."""
    source = next(iter(run("rerun_source", {"id": job_id}, using)), None)
    if source is None:
        raise JobNotFound(job_id)
    if source["status"] not in ENDED:
        raise TransitionRefused("rerun", job_id, word(state(source["status"], source["dlq"])))
    return _insert(
        {key: source[key] for key in ("type", "tenant_id", "project_id", "name", "priority", "config")}
        | {
            "submitted_by": actor,
            "unique_key": None,
            "origin_id": job_id,
            "checkpoint": None,
            "delay_seconds": None,
            "actor": actor,
            "reason": reason,
        },
        using,
    )


def track(
    *,
    type: str,
    tenant_id: str,
    worker: str,
    project_id: str | None = None,
    config: dict[str, Any] | None = None,
    name: str = "",
    submitted_by: str | None = None,
    using: Connection | None = None,
) -> ClaimedJob:
    """A job that its caller does itself: RUNNING at once, inline. Returns it as if it had just been claimed."""
    job = NewJob(type, tenant_id, project_id, config, name, submitted_by=submitted_by)
    _check(job)
    config_text = json_text(job.full_config())
    row = run(
        "track",
        {
            "id": new_id(),
            "type": type,
            "tenant_id": tenant_id,
            "project_id": project_id,
            "name": name,
            "config": config_text,
            "submitted_by": submitted_by,
            "worker": worker,
            "actor": worker,
            "reason": "",
        },
        using,
    )[0]
    log.info("job.tracked", job=row["id"], type=type, tenant=tenant_id, worker=worker)
    return ClaimedJob(
        run=Run(row["id"], worker, row["started_at"]),
        tenant_id=tenant_id,
        project_id=project_id,
        type=type,
        name=name,
        config=config_text,
        checkpoint=None,
        retry_count=0,
    )


# --- Workers ----------------------------------------------------------------------------------------------------------


def turn(worker: str, ends: Sequence[Ended], request: ClaimRequest, using: Connection) -> Turn:
    """What ended and what may start now, in one statement and one commit."""
    rows = run(
        "turn",
        {
            "worker": worker,
            "ends": _ends_json(ends),
            "slots": request.slots,
            "types": request.types,
            "tenant_cap": request.tenant_cap,
            "type_caps": json.dumps(request.type_caps),
            "after": request.after,
            "relief": request.relief,
            "strict": request.strict,
            "quiet": request.quiet,
        },
        using,
    )
    answer = Turn()
    for row in rows:
        if row["ended"]:
            answer.ends.append(_answer(row))
        elif row["job_id"] is None:
            answer.contended = True
        else:
            answer.jobs.append(_claimed(worker, row))
    if _says.isEnabledFor(logging.INFO):
        for job in answer.jobs:
            log.info("job.claimed", job=job.run.job_id, type=job.type, tenant=job.tenant_id, worker=worker)
    return answer


def wake(worker: str, using: Connection) -> None:
    """Tells other workers and consoles what quiet turns kept to themselves."""
    run("wake", {"worker": worker}, using)


def claim_job(job_id: str, worker: str, request: ClaimRequest, using: Connection | None = None) -> ClaimedJob | None:
    """Claims one given job under the same rules; None when it may not run now."""
    params = {
        "worker": worker,
        "id": job_id,
        "tenant_cap": request.tenant_cap,
        "type_caps": json.dumps(request.type_caps),
    }
    rows = run("claim_job", params, using)
    return _claimed(worker, rows[0]) if rows else None


def finish(actor: str, ends: Sequence[Ended], using: Connection | None = None) -> list[EndAnswer]:
    """Ends runs: complete, retry_later, dead_letter, cancel or release, as each outcome says.

    Fenced: only whoever holds a run may end it. A job that was asked to cancel becomes CANCELLED whatever its run ended
    in, but for a result, which is kept.
    """
    return [_answer(row) for row in run("finish", {"actor": actor, "ends": _ends_json(ends)}, using)]


def requeue_orphaned_jobs(worker: str, *, actor: str, reason: str, using: Connection | None = None) -> list[str]:
    """Puts back every RUNNING job of one worker, not counting the attempts. For admins, never at start-up."""
    rows = run("requeue_orphaned_jobs", {"worker": worker, "actor": actor, "reason": reason}, using)
    return [row["id"] for row in rows]


# --- Operators --------------------------------------------------------------------------------------------------------


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
    for _ in range(_ENQUEUE_TRIES):
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


# --- The sweep --------------------------------------------------------------------------------------------------------


def promote(limit: int, *, actor: str, using: Connection | None = None) -> list[str]:
    """RETRY_WAIT → QUEUED for what is due."""
    return _sweep("promote", limit, actor, using)


def promote_failed(limit: int, *, actor: str, using: Connection | None = None) -> list[str]:
    """FAILED with a retry time that has passed → QUEUED: rows of release 1.1.25."""
    return _sweep("promote_failed", limit, actor, using)


def retry_unclassified(limit: int, *, actor: str, using: Connection | None = None) -> list[str]:
    """FAILED without failure type and with fewer than five retries → RETRY_WAIT."""
    return _sweep("retry_unclassified", limit, actor, using)


def dead_letter_failed(limit: int, *, actor: str, using: Connection | None = None) -> list[str]:
    """FAILED for good → the DLQ."""
    return _sweep("dead_letter_failed", limit, actor, using)


def repair(limit: int, *, actor: str, thorough: bool = False, using: Connection | None = None) -> list[str]:
    """Puts right columns that cannot be true together (see `jobs.queue.consistency`); no job changes its state by it.

    `thorough` reads every job for figures that are out of range.
    """
    ids = [row["id"] for row in run("repair", {"limit": limit, "actor": actor, "thorough": thorough}, using)]
    if ids:
        log.warning("job.repair", jobs=len(ids), first=ids[0], actor=actor)
    return ids


def rescue(ends: Sequence[Ended], *, actor: str, using: Connection | None = None) -> list[EndAnswer]:
    """Ends runs whose worker is lost. Each end carries the `beat` it was judged by: a run that has shown a sign of life
    since is left alone."""
    return finish(actor, ends, using)


# --- Retention --------------------------------------------------------------------------------------------------------


def prune(limit: int, *, keep_seconds: float, using: Connection | None = None) -> tuple[int, bool]:
    """Deletes jobs that ended longer ago than `keep_seconds`, with history and logs; not dead letters, not inline ones.

    Returns how many (at most `limit` and 1,000), and whether there may be more.
    """
    row = run("prune", {"limit": limit, "keep_seconds": keep_seconds}, using)[0]
    if row["pruned"]:
        log.info("job.prune", jobs=row["pruned"])
    return row["pruned"], row["more"]


# --- Helpers ----------------------------------------------------------------------------------------------------------


def _insert(params: Row, using: Connection | None) -> str:
    for _ in range(_ENQUEUE_TRIES):
        inserted = run("enqueue", params | {"id": new_id()}, using)
        if inserted:
            log.info("job.enqueued", job=inserted[0]["id"], type=params["type"], tenant=params["tenant_id"])
            return str(inserted[0]["id"])
        holder = run("unique_key_holder", {"unique_key": params["unique_key"]}, using)
        if holder:
            raise DuplicateJob(params["unique_key"], holder[0]["id"])
    raise DuplicateJob(params["unique_key"], "one that ended just now")


def _copy(jobs: Sequence[NewJob], actor: str, reason: str, using: psycopg.Connection[Any] | None) -> list[str]:
    ids = [new_id() for _ in jobs]
    with transaction(using):
        now: datetime = run("says", {"actor": actor, "reason": reason}, using)[0]["now"]
        copy_in("enqueue_many", (_values(job_id, job, now) for job_id, job in zip(ids, jobs, strict=True)), using)
    return ids


def _values(job_id: str, job: NewJob, now: datetime) -> tuple[Any, ...]:
    due = None if job.delay_seconds is None else now + timedelta(seconds=job.delay_seconds)
    return (
        *(job_id, job.tenant_id, job.project_id, job.type, job.name, job.priority, json_text(job.full_config())),
        *(job.submitted_by, job.unique_key, due),
    )


def _distinct_keys(jobs: Sequence[NewJob]) -> list[str]:
    keys = [job.unique_key for job in jobs if job.unique_key is not None]
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise InvalidInput("uniqueKey", f"{key!r} is given twice")
        seen.add(key)
    return keys


def _check(job: NewJob) -> None:
    _required("type", job.type)
    _required("tenantId", job.tenant_id)
    texts = {"type": job.type, "tenantId": job.tenant_id, "projectId": job.project_id, "name": job.name,
             "submittedBy": job.submitted_by, "uniqueKey": job.unique_key}  # fmt: skip
    for field, text in texts.items():
        if text is not None and NUL_OR_SURROGATE.search(text):
            raise InvalidInput(field, "it holds a character that cannot be stored (NUL or half of a pair)")
        if text is not None and len(text) > LONGEST_NAME and field != "name":  # more does not fit into an index
            raise InvalidInput(field, f"it is longer than {LONGEST_NAME} characters")
    if not -MOST_PRIORITY <= job.priority <= MOST_PRIORITY:
        raise InvalidInput("priority", f"it must lie between {-MOST_PRIORITY} and {MOST_PRIORITY}")
    if job.delay_seconds is not None and not 0 <= job.delay_seconds <= LONGEST_DELAY_SECONDS:
        raise InvalidInput("delay", f"it must lie between 0 and {LONGEST_DELAY_SECONDS} seconds")


def _move(
    name: str, job_ids: Sequence[str], actor: str, reason: str, using: Connection | None, **more: Any
) -> list[Moved]:
    ids = list(dict.fromkeys(job_ids))
    rows = {row["id"]: row for row in run(name, {"ids": ids, "actor": actor, "reason": reason} | more, using)}
    answers = [_moved(job_id, rows.get(job_id)) for job_id in ids]
    changed = [answer for answer in answers if answer.changed]
    if len(changed) > MOST_LINES:  # each is in the history
        log.info(f"job.{name}", jobs=len(changed), first=changed[0].job_id, actor=actor)
        return answers
    for answer in changed:
        log.info(f"job.{name}", job=answer.job_id, found=answer.found, now=answer.now, actor=actor)
    return answers


def _moved(job_id: str, row: Row | None) -> Moved:
    if row is None:
        return Moved(job_id, None, None)
    return Moved(job_id, state(row["found"], row["found_dlq"]), row["now_is"], row.get("holder"), row.get("obstacle"))


def _sweep(name: str, limit: int, actor: str, using: Connection | None) -> list[str]:
    ids = [row["id"] for row in run(name, {"limit": limit, "actor": actor}, using)]
    if ids:
        log.info(f"job.{name}", jobs=len(ids), first=ids[0], actor=actor)
    return ids


def _required(field: str, value: str) -> None:
    if not value.strip():
        raise InvalidInput(field, "it is empty")


def _ends_json(ends: Sequence[Ended]) -> str:
    """The ends as JSON. A result is JSON text already and is set in as it is: reading it could round its numbers."""
    return "[" + ",".join(_end_json(ended) for ended in ends) + "]"


def _end_json(ended: Ended) -> str:
    text = json.dumps(as_json(ended), allow_nan=False)
    if isinstance(ended.outcome, Completed) and ended.outcome.result is not None:
        return f'{text[:-1]},"result":{ended.outcome.result}}}'
    return text


def _answer(row: Row) -> EndAnswer:
    answer = EndAnswer(row["job_id"], row["changed"], row["found"], row["now_is"])
    if _says.isEnabledFor(logging.INFO):
        event = f"job.{(answer.now or '').lower()}" if answer.changed else "job.end_refused"
        log.info(event, job=answer.job_id, found=answer.found)
    return answer


def _claimed(worker: str, row: Row) -> ClaimedJob:
    started: datetime = row["started_at"]
    return ClaimedJob(
        run=Run(row["job_id"], worker, started),
        tenant_id=row["tenant_id"],
        project_id=row["project_id"],
        type=row["job_type"],
        name=row["job_name"],
        config=row["config"],
        checkpoint=row["checkpoint"],
        retry_count=row["retry_count"],
        lost_count=row["lost_count"],
    )
