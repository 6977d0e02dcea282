"""What a run can end in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Run:
    """One claim of one job: the key to everything that may be said about it. `started` comes from the database."""

    job_id: str
    worker: str | None
    started: datetime | None


@dataclass(frozen=True)
class Failure:
    """Why a run failed, judged. `sign`: what it was judged by, kept so that a rule can be tried on it later."""

    error: str
    failure_type: str
    fingerprint: str | None = None
    lost: bool = False  # its process died with it
    sign: Mapping[str, Any] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Completed:
    """The handler returned. `result` is JSON text, clean, or None for no result."""

    result: str | None = None
    reason: str = ""


@dataclass(frozen=True)
class RetryLater:
    """It failed and has retries left."""

    failure: Failure
    delay_seconds: float
    reason: str = ""


@dataclass(frozen=True)
class DeadLettered:
    """It failed and nothing is left to try."""

    failure: Failure
    reason: str = ""


@dataclass(frozen=True)
class Cancelled:
    """The work has stopped because somebody asked."""

    reason: str = ""


@dataclass(frozen=True)
class Released:
    """Put back, not counted: its worker stops."""

    reason: str = ""


type Outcome = Completed | RetryLater | DeadLettered | Cancelled | Released


@dataclass(frozen=True)
class Ended:
    """A run and what it ended in. `beat`: see `transitions.rescue`."""

    run: Run
    outcome: Outcome
    beat: datetime | None = None


@dataclass(frozen=True)
class EndAnswer:
    """What the database says to an end: was it recorded, and in which state was the job found (None: no such row)."""

    job_id: str
    changed: bool
    found: str | None
    now: str | None


@dataclass(frozen=True)
class ClaimedJob:
    """A job just claimed, as its runner needs it. `config` and `checkpoint` are JSON text, not yet read."""

    run: Run
    tenant_id: str
    project_id: str | None
    type: str
    name: str
    config: str
    checkpoint: str | None
    retry_count: int
    lost_count: int = 0  # how often a process died while it ran this job


@dataclass(frozen=True)
class ClaimRequest:
    """What a worker asks for: slots and types, under which default caps, after which tenant in the ring."""

    slots: int
    types: list[str]
    tenant_cap: int
    type_caps: dict[str, int]
    after: str = ""
    relief: float | None = None  # in [0, 1): begin at this share of the priorities present, not at the highest
    strict: bool = False  # the order of the source: priority, then queuedAt, over all tenants
    quiet: bool = False  # tell nobody: the worker will, within moments


@dataclass
class Turn:
    """The answer to one turn. `contended`: another claimer was in the way, so looking again soon may find more."""

    ends: list[EndAnswer] = field(default_factory=list)
    jobs: list[ClaimedJob] = field(default_factory=list)
    contended: bool = False


def as_json(ended: Ended) -> dict[str, Any]:
    """An end as `detiq_finish` reads it. The result stays text here: the caller joins it in as JSON."""
    common: dict[str, Any] = {
        "id": ended.run.job_id,
        "worker": ended.run.worker,
        "started": ended.run.started.isoformat() if ended.run.started else None,
        "reason": ended.outcome.reason,
    }
    if ended.beat is not None:
        common["beat"] = ended.beat.isoformat()
    match ended.outcome:
        case Completed():
            return common | {"kind": "done"}
        case RetryLater(failure=failure, delay_seconds=delay):
            return common | {"kind": "retry", "delay": delay} | _failure(failure)
        case DeadLettered(failure=failure):
            return common | {"kind": "dead"} | _failure(failure)
        case Cancelled():
            return common | {"kind": "cancelled"}
        case Released():
            return common | {"kind": "release"}


def _failure(failure: Failure) -> dict[str, Any]:
    found = {
        "error": failure.error,
        "failureType": failure.failure_type,
        "fingerprint": failure.fingerprint,
        "lost": failure.lost,
    }
    return found | ({"sign": dict(failure.sign)} if failure.sign else {})
