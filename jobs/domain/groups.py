"""The life of a failure group: what people say of a cause, and the one thing that the queue says itself."""

from enum import StrEnum


class GroupState(StrEnum):
    """New until somebody looks; known; fix deployed, until it fails again and has regressed; ignored."""

    NEW = "NEW"
    KNOWN = "KNOWN"
    FIX_DEPLOYED = "FIX_DEPLOYED"
    IGNORED = "IGNORED"
    REGRESSED = "REGRESSED"


WORDS = {
    GroupState.NEW: "New",
    GroupState.KNOWN: "Known",
    GroupState.FIX_DEPLOYED: "Fix deployed",
    GroupState.IGNORED: "Ignored",
    GroupState.REGRESSED: "Regressed",
}
# What needs somebody.
OPEN = frozenset({GroupState.NEW, GroupState.REGRESSED})
# What a person may say. That a group has regressed is found, not said.
CHOICES = tuple(state for state in GroupState if state is not GroupState.REGRESSED)
