"""What people do to failure groups, audited."""

from django.db import transaction

from jobs.domain.errors import GroupChanged, InvalidInput
from jobs.domain.groups import CHOICES, WORDS, GroupState
from jobs.operations.actions import Person, audited, required
from jobs.queue import groups

LONGEST_OWNER = 300
LONGEST_NOTE = 2_000


def change(
    person: Person, fingerprint: str, *, seen: str, state: str, owner: str = "", note: str = "", reason: str
) -> None:
    """Gives a group a state, an owner and a note, if it is still in the state `seen`.

    Raises `InvalidInput` that names the field, `GroupNotFound`, `GroupChanged`.
    """
    required(reason)
    if state not in CHOICES:
        raise InvalidInput("state", f"it must be one of {', '.join(CHOICES)}")
    owner, note = owner.strip(), note.strip()
    for field, value, longest in (("owner", owner, LONGEST_OWNER), ("note", note, LONGEST_NOTE)):
        if len(value) > longest:
            raise InvalidInput(field, f"it is longer than {longest} characters")
    chosen = GroupState(state)
    with transaction.atomic():
        said = groups.change(
            fingerprint, seen=seen, state=chosen, owner=owner, note=note, actor=person.actor, reason=reason.strip()
        )
        if not said.changed:
            raise GroupChanged(WORDS.get(said.state, said.state))  # type: ignore[call-overload]
        audited(
            person,
            "change_group",
            f"group {fingerprint}",
            reason,
            before={"state": said.state, "owner": said.owner, "note": said.note},
            after={"state": chosen.value, "owner": owner, "note": note},
        )
