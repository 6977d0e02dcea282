"""Pauses: held by scope, with a reason and an owner, until lifted or until their end by the database's clock."""

from dataclasses import dataclass
from datetime import datetime

import structlog

from jobs.domain.errors import InvalidInput, JobsError
from jobs.models.pause import scope_words
from jobs.queue.statements import Connection, run, transaction
from jobs.rows import Row

log = structlog.get_logger("jobs.door")

LONGEST_SECONDS = 366 * 86_400


class PauseNotFound(JobsError):
    """This pause is no longer in force; nothing changed."""


@dataclass(frozen=True)
class PauseInForce:
    """One thing that holds the queue. Without `id` it is the flag, set by another program."""

    id: int | None
    type: str | None
    tenant_id: str | None
    project_id: str | None
    reason: str
    owner: str
    since: datetime
    ends_at: datetime | None

    @property
    def scope(self) -> str:
        """The scope in words."""
        return scope_words(self.type, self.tenant_id, self.project_id)


def pause(
    *,
    reason: str,
    owner: str,
    type: str | None = None,
    tenant_id: str | None = None,
    project_id: str | None = None,
    ends_in_seconds: float | None = None,
    using: Connection | None = None,
) -> int:
    """Holds the jobs of a scope; running jobs finish. Returns the pause's id. Raises `InvalidInput`."""
    if not reason.strip():
        raise InvalidInput("reason", "it is empty; say why, so that whoever finds the pause knows")
    if ends_in_seconds is not None and not 0 < ends_in_seconds <= LONGEST_SECONDS:
        raise InvalidInput("until", "it must lie in the future, within a year")
    row = _alone(
        "pause",
        {
            "type": type or None,
            "tenant_id": tenant_id or None,
            "project_id": project_id or None,
            "reason": reason.strip(),
            "owner": owner,
            "ends_in_seconds": ends_in_seconds,
        },
        using,
    )[0]
    log.info("queue.paused", pause=row["id"], scope=scope_words(type, tenant_id, project_id), owner=owner)
    return int(row["id"])


def lift(pause_id: int | None, *, by: str, reason: str, using: Connection | None = None) -> None:
    """Lifts one pause; None: everything that pauses everything, the flag included. Raises `PauseNotFound`."""
    if not reason.strip():
        raise InvalidInput("reason", "it is empty; say why")
    row = _alone("lift", {"id": pause_id, "by": by, "reason": reason.strip()}, using)[0]
    if not row["pauses"] and not row["flags"]:
        raise PauseNotFound("nothing is paused that this would lift; nothing changed")
    log.info("queue.resumed", pause=pause_id, by=by)


def active(using: Connection | None = None) -> list[PauseInForce]:
    """All that holds the queue now, newest first."""
    return [PauseInForce(**row) for row in run("active_pauses", {}, using)]


def expire(limit: int, *, actor: str, using: Connection | None = None) -> list[int]:
    """Ends the pauses whose end has passed, each once. Returns their ids; none while somebody sets or lifts one."""
    with transaction(using):
        if not run("try_lock_pauses", {}, using)[0]["mine"]:
            return []
        ids = [int(row["id"]) for row in run("expire_pauses", {"limit": limit, "actor": actor}, using)]
    for pause_id in ids:
        log.info("queue.resumed", pause=pause_id, by=actor)
    return ids


def _alone(statement: str, params: Row, using: Connection | None) -> list[Row]:
    """Runs what sets or lifts pauses, after whoever else does so has committed."""
    with transaction(using):
        run("lock_pauses", {}, using)
        return run(statement, params, using)
