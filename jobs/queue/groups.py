"""Failure groups: what people say of a cause. What is counted of it comes from the triggers and the sweep alone."""

from dataclasses import dataclass

import structlog

from jobs.domain.errors import GroupNotFound
from jobs.domain.groups import GroupState
from jobs.queue.statements import Connection, run

log = structlog.get_logger("jobs.door")


@dataclass(frozen=True)
class Said:
    """What was found, and whether the change was made. `state` is the one from before it."""

    state: str
    owner: str
    note: str
    changed: bool


def change(
    fingerprint: str,
    *,
    seen: str,
    state: GroupState,
    owner: str,
    note: str,
    actor: str,
    reason: str,
    using: Connection | None = None,
) -> Said:
    """Says something of a group, if it is still in the state `seen`. Raises `GroupNotFound`."""
    params = {"fingerprint": fingerprint, "seen": seen, "state": state.value, "owner": owner, "note": note}
    rows = run("change_group", params | {"actor": actor, "reason": reason}, using)
    if not rows:
        raise GroupNotFound(fingerprint)
    said = Said(**{name: rows[0][name] for name in ("state", "owner", "note", "changed")})
    if said.changed:
        log.info("group.changed", group=fingerprint, was=said.state, now=state.value, actor=actor)
    return said
