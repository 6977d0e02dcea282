"""Runs of job types that another service does: the types, the runs it was asked for, and the callbacks already taken.

No state of a job changes here; ends go through the door (`jobs.queue.transitions`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.views.decorators.debug import sensitive_variables

from jobs.domain.errors import RunLost
from jobs.domain.ids import new_id
from jobs.domain.outcomes import Run
from jobs.domain.remote import WINDOW_SECONDS
from jobs.queue.statements import Connection, run
from jobs.rows import Row
from jobs.vault import REMOTE_TYPES

# A service's clock and the network may be a little late.
DEADLINE_GRACE_SECONDS = 30.0


@dataclass(frozen=True)
class RemoteTerms:
    """How a type is run elsewhere. Times in seconds."""

    type: str
    url: str
    secrets: tuple[str, ...] = field(repr=False)
    first_answer_seconds: int
    silence_seconds: int
    longest_run_seconds: int


@dataclass(frozen=True)
class RemoteStatus:
    """What the worker that follows it knows of a run. `ended`: a callback's end was recorded. Times in seconds."""

    ended: bool
    silent: float
    remaining: float


@dataclass(frozen=True)
class Begun:
    """A run that may now be asked for. `now`: the database's clock, seconds since 1970."""

    id: str
    deadline_at: datetime
    now: float


@dataclass(frozen=True)
class FoundRun:
    """A run as a callback finds it. `ours`: its job is still in this run; `status` is the job's (None: no such job)."""

    id: str
    type: str
    run: Run
    status: str | None
    ours: bool
    overdue: bool
    progress: int
    step: str | None
    retry_count: int
    log_lines: int
    end_digest: str | None
    now: datetime
    secrets: tuple[str, ...] = field(repr=False)


def types(using: Connection | None = None) -> list[str]:
    """The types that are mapped, sorted."""
    return [row["type"] for row in run("remote_types", {"type": None}, using)]


def rows() -> list[Row]:
    """All mappings, as pages show them: without secrets."""
    return [_shown(row) for row in run("remote_types", {"type": None})]


def row(job_type: str) -> Row | None:
    """One mapping without its secrets."""
    found = run("remote_types", {"type": job_type})
    return _shown(found[0]) if found else None


def terms(job_type: str) -> RemoteTerms | None:
    """How to call the service of a type; None when it is not mapped. Raises `Unreadable`."""
    found = run("remote_types", {"type": job_type})
    if not found:
        return None
    row = found[0]
    names = ("type", "url", "first_answer_seconds", "silence_seconds", "longest_run_seconds")
    return RemoteTerms(**{name: row[name] for name in names}, secrets=_secrets(row))


def changed() -> None:
    """Tells workers to read the types again, once the transaction commits."""
    run("remote_changed", {})


def begin(of: Run, job_type: str, longest_run_seconds: int) -> Begun:
    """Writes down that a service is about to be asked for a run. Raises `RunLost`."""
    run_id = new_id()
    params = {
        "id": run_id,
        "job_id": of.job_id,
        "worker": of.worker,
        "started": of.started,
        "type": job_type,
        "longest": longest_run_seconds,
    }
    begun = run("remote_begin", params)
    if not begun:
        raise RunLost
    return Begun(run_id, **begun[0])


def statuses(run_ids: Sequence[str], using: Connection | None = None) -> dict[str, RemoteStatus]:
    """What is known of these runs; one that is missing was pruned with its job."""
    return {row.pop("id"): RemoteStatus(**row) for row in run("remote_status", {"ids": list(run_ids)}, using)}


def find(run_id: str) -> FoundRun | None:
    """Raises `Unreadable`."""
    found = run("remote_find", {"id": run_id, "grace": DEADLINE_GRACE_SECONDS})
    if not found:
        return None
    row = found[0]
    return FoundRun(
        id=row["id"],
        type=row["type"],
        run=Run(row["job_id"], row["worker"], row["started_at"]),
        secrets=_secrets(row),
        progress=row["progress"] or 0,
        retry_count=row["retry_count"] or 0,
        **{name: row[name] for name in ("status", "ours", "overdue", "step", "log_lines", "end_digest", "now")},
    )


def lock(run_id: str) -> None:
    """Until the transaction ends, no other callback of this run is taken."""
    run("remote_lock", {"id": run_id})


def take(run_id: str, nonce: str) -> bool:
    """Takes a nonce; false when it was taken before."""
    return bool(run("remote_take", {"run": run_id, "nonce": nonce, "keep": 2 * WINDOW_SECONDS + 60}))


def heard(run_id: str, lines: int = 0) -> None:
    """The service lives, and wrote so many lines."""
    run("remote_heard", {"id": run_id, "lines": lines})


def ended(run_id: str, digest: str) -> None:
    """Its end was recorded; `digest` is that of the body which told it."""
    run("remote_ended", {"id": run_id, "digest": digest})


@sensitive_variables()
def _secrets(row: Row) -> tuple[str, ...]:
    sealed = [row["secret"], row["previous_secret"] if row["overlaps"] else None]
    return tuple(REMOTE_TYPES.unseal(one, f"the secret of remote type {row['type'][:200]}") for one in sealed if one)


def _shown(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in ("secret", "previous_secret")}
