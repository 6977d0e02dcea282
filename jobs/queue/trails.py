"""What trail and commands say of jobs besides what the door answers; reads only."""

from collections.abc import Sequence
from datetime import timedelta

from jobs.queue.statements import Connection, run
from jobs.rows import Row


def tenant_of(job_ids: Sequence[str], using: Connection | None = None) -> str | None:
    """Whose these jobs are, in the queue or in the trash; None when they are several tenants'."""
    rows = run("tenants_of", {"ids": list(job_ids)}, using)
    return str(rows[0]["tenant_id"]) if len(rows) == 1 else None


def priorities(job_ids: Sequence[str], using: Connection | None = None) -> dict[str, int]:
    """The priorities of these jobs, which nobody else changes before the caller's transaction ends."""
    return {row["id"]: row["priority"] for row in run("priorities", {"ids": list(job_ids)}, using)}


def job(job_id: str, using: Connection | None = None) -> Row | None:
    """One job; config, result and checkpoint as text. None: there is no such job."""
    return next(iter(run("job", {"id": job_id}, using)), None)


def history(job_id: str, most: int = 50, using: Connection | None = None) -> list[Row]:
    """Its latest changes, oldest first."""
    return run("job_changes", {"id": job_id, "most": most}, using)


def heard(job_ids: Sequence[str], within: timedelta, using: Connection | None = None) -> dict[str, float]:
    """The runs among these whose worker gave a sign of life within this time, and how many seconds ago."""
    rows = run("heard", {"ids": list(job_ids), "within": within.total_seconds()}, using)
    return {row["id"]: max(0.0, row["seconds"]) for row in rows}
