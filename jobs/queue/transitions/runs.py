"""What workers do: claim, and end what they ran."""

import json
import logging
from collections.abc import Sequence
from datetime import datetime

import structlog

from jobs.domain.outcomes import ClaimedJob, ClaimRequest, Completed, EndAnswer, Ended, Run, Turn, as_json
from jobs.queue.statements import Connection, run
from jobs.rows import Row

log = structlog.get_logger("jobs.door")
_says = logging.getLogger("jobs.door")  # asked first where thousands of lines a second would be made and dropped


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


def rescue(ends: Sequence[Ended], *, actor: str, using: Connection | None = None) -> list[EndAnswer]:
    """Ends runs whose worker is lost. Each end carries the `beat` it was judged by: a run that has shown a sign of life
    since is left alone."""
    return finish(actor, ends, using)


def requeue_orphaned_jobs(worker: str, *, actor: str, reason: str, using: Connection | None = None) -> list[str]:
    """Puts back every RUNNING job of one worker, not counting the attempts. For admins, never at start-up."""
    rows = run("requeue_orphaned_jobs", {"worker": worker, "actor": actor, "reason": reason}, using)
    return [row["id"] for row in rows]


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
