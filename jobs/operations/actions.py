"""What people do to jobs and to the queue, for page and command alike.

All go through the door and are audited in the same transaction. Each raises a child of `JobsError`
for what is refused; the whole is then as it was.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from jobs import audit
from jobs.conf import conf
from jobs.domain.errors import InvalidInput, StillAlive
from jobs.models.pause import scope_words
from jobs.queue import caps, pauses, trails, transitions
from jobs.queue.caps import Setting, Wanted
from jobs.queue.transitions import Moved

LONGEST_REASON = 2_000
LOWEST_PRIORITY, HIGHEST_PRIORITY = -1_000_000, 1_000_000


@dataclass(frozen=True)
class Person:
    """Who acts, and from where."""

    username: str
    address: str | None = None
    user_agent: str | None = None
    source: str = "console"

    @property
    def actor(self) -> str:
        """The name that history and audit keep."""
        return self.username if self.source == "console" else f"{self.source}:{self.username}"


def enqueue(
    person: Person,
    *,
    type: str,
    tenant_id: str,
    project_id: str | None = None,
    config: dict[str, Any] | None = None,
    name: str = "",
    priority: int = 0,
    unique_key: str | None = None,
    reason: str = "",
) -> str:
    """A new job. Returns its id."""
    with transaction.atomic():
        job_id = transitions.enqueue(
            type=type,
            tenant_id=tenant_id,
            project_id=project_id,
            config=config,
            name=name,
            priority=priority,
            unique_key=unique_key,
            submitted_by=person.username,
            actor=person.actor,
            reason=reason,
        )
        audited(person, "enqueue", job_id, reason, tenant_id=tenant_id, after={"type": type, "priority": priority})
    return job_id


def cancel(person: Person, job_ids: Sequence[str], reason: str) -> list[Moved]:
    """Cancels waiting jobs, asks running ones to stop."""
    return _act(person, "cancel", job_ids, reason, transitions.request_cancel)


def force_cancel(person: Person, job_ids: Sequence[str], reason: str, sure: bool = False) -> list[Moved]:
    """Ends runs without their worker's word. Raises `StillAlive` for one whose worker was just heard of, unless `sure`."""
    alive = {} if sure else trails.heard(job_ids, conf().heartbeat_interval * 3)
    if alive:
        raise StillAlive(*next(iter(alive.items())))
    return _act(person, "force_cancel", job_ids, reason, transitions.force_cancel)


def retry(
    person: Person, job_ids: Sequence[str], reason: str, keep_checkpoint: bool = True, must_resume: bool = False
) -> list[Moved]:
    """Takes jobs out of the DLQ, from their checkpoint or from the start. Without one, those that `must_resume` stay."""

    def move(ids: Sequence[str], *, actor: str, reason: str) -> list[Moved]:
        return transitions.retry(
            ids, actor=actor, reason=reason, keep_checkpoint=keep_checkpoint, must_resume=must_resume
        )

    return _act(person, "retry", job_ids, reason, move, after={"keep_checkpoint": keep_checkpoint})


def run_now(person: Person, job_ids: Sequence[str], reason: str) -> list[Moved]:
    """Ends the wait before a retry."""
    return _act(person, "run_now", job_ids, reason, transitions.run_now)


def set_priority(person: Person, job_ids: Sequence[str], reason: str, priority: int) -> list[Moved]:
    """Another place in the order for jobs that wait; higher goes first. What it was is audited."""
    if not LOWEST_PRIORITY <= priority <= HIGHEST_PRIORITY:
        raise InvalidInput("priority", f"it must lie between {LOWEST_PRIORITY:,} and {HIGHEST_PRIORITY:,}")

    def move(ids: Sequence[str], *, actor: str, reason: str) -> list[Moved]:
        return transitions.set_priority(ids, priority=priority, actor=actor, reason=reason)

    with transaction.atomic():
        was = trails.priorities(job_ids)
        return _act(person, "set_priority", job_ids, reason, move, before=was, after={"priority": priority})


def purge(person: Person, job_ids: Sequence[str], reason: str) -> list[Moved]:
    """Moves ended jobs to the trash, from where they can be restored for as long as it is kept."""
    return _act(person, "purge", job_ids, reason, transitions.purge)


def restore(person: Person, job_ids: Sequence[str], reason: str) -> list[Moved]:
    """Brings jobs back from the trash, as they were."""
    return _act(person, "restore", job_ids, reason, transitions.restore)


def rerun(person: Person, job_id: str, reason: str) -> str:
    """Runs an ended job again, as a new job that names its origin. Returns the new id."""
    required(reason)
    with transaction.atomic():
        new_id = transitions.rerun(job_id, actor=person.actor, reason=reason)
        audited(person, "rerun", job_id, reason, tenant_id=trails.tenant_of([job_id]), after={"new_job": new_id})
    return new_id


def pause(
    person: Person,
    *,
    reason: str,
    type: str | None = None,
    tenant_id: str | None = None,
    project_id: str | None = None,
    ends_in_seconds: float | None = None,
) -> int:
    """Holds a scope. Returns the pause's id."""
    required(reason)
    with transaction.atomic():
        pause_id = pauses.pause(
            reason=reason,
            owner=person.actor,
            type=type,
            tenant_id=tenant_id,
            project_id=project_id,
            ends_in_seconds=ends_in_seconds,
        )
        scope = scope_words(type, tenant_id, project_id)
        audited(
            person, "pause", scope, reason, tenant_id=tenant_id, after={"pause": pause_id, "ends_in": ends_in_seconds}
        )
    return pause_id


def resume(person: Person, *, reason: str, pause_id: int | None = None) -> None:
    """Lifts one pause; None: all that pauses everything, the flag of other programs included."""
    required(reason)
    with transaction.atomic():
        pauses.lift(pause_id, by=person.actor, reason=reason)
        audited(person, "resume", f"pause {pause_id}" if pause_id else "Everything", reason)


def change_cap(
    person: Person, kind: str, name: str, wanted: Wanted, *, reason: str, seen: int | None = None
) -> tuple[Setting, Setting]:
    """Sets what is wanted for a tenant or a type (`kind`), unless somebody has changed it since version `seen`.

    Returns what was and what is. Raises `InvalidInput` naming the field, `CapChanged`.
    """
    required(reason)
    with transaction.atomic():
        before, after = caps.change(kind, name, wanted, seen=seen, actor=person.actor)
        audited(
            person,
            "cap" if kind == "tenant" else "type_cap",
            f"{kind} {name}",
            reason,
            tenant_id=name if kind == "tenant" else None,
            before=before.says(kind),
            after=after.says(kind),
        )
    return before, after


def reveal(person: Person, job_id: str, value: str, reason: str) -> None:
    """Before a masked value is shown as it is stored: what cannot be audited is not shown."""
    required(reason)
    with transaction.atomic():
        audited(person, "reveal", job_id, reason, tenant_id=trails.tenant_of([job_id]), after={"value": value})


type _Move = Callable[..., list[Moved]]


def _act(
    person: Person,
    action: str,
    job_ids: Sequence[str],
    reason: str,
    move: _Move,
    before: dict[str, Any] | None = None,
    after: Any = None,
) -> list[Moved]:
    required(reason)
    with transaction.atomic():
        tenant = trails.tenant_of(job_ids)
        answers = move(job_ids, actor=person.actor, reason=reason.strip())
        done = [answer for answer in answers if answer.changed]
        if done:  # what changed nothing leaves no trace but the answer
            audited(
                person,
                action,
                done[0].job_id if len(answers) == 1 else f"{len(done)} jobs",
                reason,
                numbers={"done": len(done), "skipped": len(answers) - len(done)},
                tenant_id=tenant,
                before={one.job_id: (before or {}).get(one.job_id, one.found) for one in done[: audit.MOST_IDS]},
                after=after,
            )
    return answers


def required(reason: str) -> None:
    """By page and command alike. Raises `InvalidInput`; it is kept with each job that is touched, so it has an end."""
    if not reason.strip():
        raise InvalidInput("reason", "it is empty; say why")
    if len(reason) > LONGEST_REASON:
        raise InvalidInput("reason", f"it is longer than {LONGEST_REASON:,} characters")


def audited(person: Person, action: str, target: str, reason: str, **more: Any) -> None:
    audit.record(
        actor=person.actor,
        action=action,
        target=target,
        reason=reason.strip(),
        address=person.address,
        user_agent=person.user_agent,
        **more,
    )
