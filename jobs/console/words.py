"""Sentences about jobs and the queue. No database and no HTML: everything is an argument."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from jobs.domain.failures import POLICIES
from jobs.domain.states import DEAD_LETTERED, state, word
from jobs.domain.text import plural as plural
from jobs.queue.pauses import PauseInForce
from jobs.templatetags.formats import relative_text

# How often a failure of each type is tried again; what is not known is not guessed.
BUDGETS = {str(kind): policy.retries for kind, policy in POLICIES.items()}


@dataclass(frozen=True)
class Doing:
    """What a job does or why not. `bar` is a percentage, `held` marks a paused one."""

    text: str
    held: bool = False
    bar: int | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Gates:
    """Why the queued jobs of a page wait, by id, as of `now`."""

    now: datetime
    waiting: dict[str, Doing] = field(default_factory=dict)


def doing(job: dict[str, Any], gates: Gates) -> Doing:
    """The column whose meaning follows the state."""
    shown = state(job["status"], job["dlq"])
    if shown == "QUEUED":
        return gates.waiting.get(job["id"], Doing("unknown"))
    if shown in {"RUNNING", "CANCEL_REQUESTED"}:
        return _running(job, gates, shown)
    if shown == "RETRY_WAIT":
        return Doing(first_line(job["error"]) or "no error was kept", until=job["next_retry_at"])
    if shown in {"FAILED", DEAD_LETTERED}:
        return Doing(first_line(job["error"] or job.get("dlq_reason")) or "no error was kept")
    if shown == "DONE":
        return Doing(job["current_step"] or "")
    if shown == "CANCELLED":
        return Doing(f"at {clamp(job['progress'])} %" if job["started_at"] else "before it started")
    return Doing(f"status “{job['status']}” was written by another program")


def holds(pause: PauseInForce, job: dict[str, Any]) -> bool:
    """Does this pause hold this job?"""
    return (
        pause.type in {None, job["type"]}
        and pause.tenant_id in {None, job["tenant_id"]}
        and pause.project_id in {None, job["project_id"]}
    )


def _running(job: dict[str, Any], gates: Gates, shown: str) -> Doing:
    beat = job["heartbeat_at"] or job["started_at"]
    parts = [job["current_step"]] if job["current_step"] else []
    if shown == "CANCEL_REQUESTED":
        parts.insert(0, "asked to stop")
    if beat:
        parts.append(f"beat {relative_text(beat, gates.now, 'ago')}")
    return Doing(", ".join(parts), bar=clamp(job["progress"]))


def first_line(text: str | None, most: int = 200) -> str:
    """The first line of an error."""
    return next((line.strip()[:most] for line in (text or "").splitlines() if line.strip()), "")


def clamp(percent: int | None) -> int:
    """A percentage between 0 and 100."""
    return max(0, min(100, percent or 0))


def attempt(job: dict[str, Any]) -> str:
    """`2 of 6`: which attempt this is or was, of how many the failure type allows."""
    counter = max(0, job["retry_count"])
    budget = BUDGETS.get(job["failure_type"] or "TRANSIENT")
    ended = state(job["status"], job["dlq"]) in {"RETRY_WAIT", "FAILED", DEAD_LETTERED}
    number = counter if ended else counter + 1
    return f"{number} of {budget + 1 if budget is not None else '?'}" if number else "–"


def ran(job: dict[str, Any], now: datetime) -> timedelta | None:
    """How long its last run took, or takes."""
    if not job["started_at"]:
        return None
    end = job["finished_at"] if job["status"] not in {"RUNNING", "CANCEL_REQUESTED"} else now
    return max(timedelta(), end - job["started_at"]) if end else None


def title(job: dict[str, Any]) -> str:
    """The name, else the type."""
    return job["name"].strip() or job["type"].strip() or "(no name)"


def transition(source: str | None, target: str | None) -> str:
    """`Running → Done`; `Enqueued` for a new row."""
    if source is None:
        return "Enqueued" if target == "QUEUED" else f"New, {word(target or '')}"
    return f"{word(source)} → {word(target) if target is not None else 'deleted'}"


@dataclass(frozen=True)
class Verdict:
    """A section's answer. Without a tag all is well."""

    text: str
    tag: str = ""
    more: str = ""
