"""Signs of life and reports of running jobs: fenced, and never a change of state."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jobs.domain.errors import RunLost
from jobs.domain.outcomes import Run
from jobs.queue.statements import Connection, run
from jobs.rows import Row


@dataclass(frozen=True)
class Progress:
    """How far a run is: 0–100, and a step in words."""

    run: Run
    percent: int
    step: str


@dataclass(frozen=True)
class LogLine:
    """A line that a handler wrote. `at` is the database's clock, as the worker knows it."""

    run: Run
    at: datetime
    level: str
    message: str


def beat(worker: str, runs: Sequence[Run], using: Connection | None = None) -> None:
    """A sign of life for all of these runs. A row that somebody has locked is written at the next beat."""
    run("beat", {"worker": worker} | _keys(runs), using)


def look(worker: str, runs: Sequence[Run], using: Connection) -> dict[str, str]:
    """Which of these runs are still ours: job id → status, `CANCEL_REQUESTED` when somebody asked it to stop."""
    return {row["id"]: row["status"] for row in run("look", {"worker": worker} | _keys(runs), using)}


def holders(job_ids: Sequence[str], using: Connection) -> dict[str, str]:
    """In whose hands these jobs are now, in words: for the log of a worker that has lost them."""
    rows = {row["id"]: row for row in run("holders", {"ids": list(job_ids)}, using)}
    return {id_: _holder(rows.get(id_)) for id_ in job_ids}


def _holder(row: Row | None) -> str:
    if row is None:
        return "nobody: the job is gone"
    return str(row["worker"] or f"nobody: it is {row['status']}")


def held_by(worker: str, known: Sequence[Run], using: Connection) -> list[Run]:
    """The runs that the table says this worker has, besides those it knows."""
    return [Run(row["id"], worker, row["started"]) for row in run("held_by", {"worker": worker} | _keys(known), using)]


def report_progress(worker: str, reports: Sequence[Progress], using: Connection | None = None) -> None:
    """Stores the progress of several runs in one statement. Runs that are no longer ours are passed over."""
    params = {
        "worker": worker,
        "percents": [report.percent for report in reports],
        "steps": [report.step for report in reports],
    }
    run("report_progress", params | _keys([report.run for report in reports]), using)


def save_checkpoint(of: Run, checkpoint: str, using: Connection | None = None, *, version: str | None = None) -> None:
    """Stores a checkpoint (JSON text) and the version of the handler that wrote it, None where it declares none.

    Raises `RunLost` when the run is no longer ours.
    """
    params = {"id": of.job_id, "started": of.started, "worker": of.worker, "checkpoint": checkpoint, "version": version}
    if not run("save_checkpoint", params, using):
        raise RunLost


def checkpoint_version(of: Run, using: Connection | None = None) -> str | None:
    """The version of the handler that wrote the job's checkpoint; None: it declared none."""
    rows = run("checkpoint_version", {"id": of.job_id}, using)
    return rows[0]["version"] if rows else None


def write_logs(lines: Sequence[LogLine], using: Connection | None = None) -> None:
    """Stores log lines of any runs. They are kept also for a run that was lost: they say what it did."""
    params = {
        "ids": [line.run.job_id for line in lines],
        "starts": [line.run.started for line in lines],
        "ats": [line.at for line in lines],
        "levels": [line.level for line in lines],
        "messages": [line.message for line in lines],
    }
    run("write_logs", params, using)


def _keys(runs: Sequence[Run]) -> dict[str, list[str] | list[datetime | None]]:
    return {"ids": [one.job_id for one in runs], "starts": [one.started for one in runs]}
