"""New jobs: what makes a row."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import psycopg
import structlog

from jobs.domain.errors import DuplicateJob, InvalidInput, JobNotFound, TransitionRefused
from jobs.domain.ids import new_id
from jobs.domain.new_job import NewJob
from jobs.domain.outcomes import ClaimedJob, Run
from jobs.domain.states import ENDED, state, word
from jobs.domain.values import json_text
from jobs.queue.statements import Connection, copy_in, run, transaction
from jobs.rows import Row

log = structlog.get_logger("jobs.door")

# A rival that ends between our insert and our look leaves the key free again: then we insert again.
_TRIES = 5


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
    job.check()
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
        job.check()
    keys = _distinct_keys(jobs)
    for _ in range(_TRIES):
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
    job.check()
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


def _insert(params: Row, using: Connection | None) -> str:
    for _ in range(_TRIES):
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
