"""What can be done to many jobs at once: the kinds, whom each may touch, and the choices that go with it."""

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from jobs.domain.errors import InvalidInput
from jobs.domain.states import DEAD_LETTERED, ENDED, JobStatus

FASTEST = 100_000
# A job that came back so often is left in the DLQ unless somebody says otherwise.
MOST_REDRIVES = 5
MOST_REDRIVES_EVER = 1_000
PRIORITIES = 1_000_000
MOST_SAMPLES = 500


class Kind(StrEnum):
    """The verbs. `retry` is the redrive of the DLQ."""

    CANCEL = "cancel"
    RETRY = "retry"
    RERUN = "rerun"
    RUN_NOW = "run_now"
    PRIORITY = "priority"
    PURGE = "purge"
    RESTORE = "restore"


class OperationState(StrEnum):
    """How far an operation is."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    BRAKED = "BRAKED"
    STOPPED = "STOPPED"
    DONE = "DONE"
    FAILED = "FAILED"


STATE_WORDS: dict[str, str] = {
    OperationState.PENDING: "Waiting for a worker",
    OperationState.RUNNING: "Running",
    OperationState.PAUSED: "Paused",
    OperationState.BRAKED: "Braked",
    OperationState.STOPPED: "Stopped",
    OperationState.DONE: "Done",
    OperationState.FAILED: "Failed",
}
MOVING = frozenset({OperationState.PENDING, OperationState.RUNNING})
HELD = frozenset({OperationState.PAUSED, OperationState.BRAKED})
OPEN = MOVING | HELD

_ENDS = frozenset({*ENDED, DEAD_LETTERED})


@dataclass(frozen=True)
class Spec:
    """One kind. `states`: in which a job may be touched; empty: the trash has none."""

    verb: str
    done: str
    states: frozenset[str]
    effect: str
    queues: bool = False
    destroys: bool = False


SPECS: dict[Kind, Spec] = {
    Kind.CANCEL: Spec(
        "Cancel", "cancelled", frozenset({JobStatus.QUEUED, JobStatus.RETRY_WAIT, JobStatus.RUNNING}),
        "Waiting jobs end at once; running ones are asked to stop, and keep their checkpoint.",
    ),
    Kind.RETRY: Spec(
        "Redrive", "redriven", frozenset({DEAD_LETTERED}),
        "They leave the DLQ and wait in the queue, with a fresh retry budget.", queues=True,
    ),
    Kind.RERUN: Spec(
        "Run again", "run again", _ENDS, "A new job with the same config is queued for each; the old ones stay.", queues=True
    ),
    Kind.RUN_NOW: Spec(
        "Run now", "put in the queue", frozenset({JobStatus.RETRY_WAIT}),
        "The wait before the retry ends. Caps and pauses still hold.", queues=True,
    ),
    Kind.PRIORITY: Spec(
        "Change the priority of", "given the priority", frozenset({JobStatus.QUEUED, JobStatus.RETRY_WAIT}),
        "Higher goes first, over all tenants.",
    ),
    Kind.PURGE: Spec(
        "Purge", "purged", _ENDS, "They go to the trash, from where they can be restored for 7 days.", destroys=True
    ),
    Kind.RESTORE: Spec(
        "Restore", "restored", frozenset(), "They come back as they were, to the state they had, in every column."
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """How it is done. `rate`: jobs a minute, None: as fast as goes well. Percent and seconds of the brake; None: off.

    Of a redrive: `ramp` leads up to the rate while what it releases ends well; `idle_percent` is the share of the workers'
    idle slots that it may use; `priority` is the highest that its jobs go back with; `boomerangs` and `held_tenants` are
    taken along or left; `max_redrives` None: no limit; `kept_only` leaves jobs without a checkpoint; `outdated`: those
    whose checkpoint another version of the handler wrote start over, instead of being left. `shown`: how many the person
    saw, None when they were not counted to the end.
    """

    keep_checkpoint: bool = True
    priority: int | None = None
    rate: int | None = None
    boomerangs: bool = False
    brake_percent: int | None = None
    brake_of: int = 50
    brake_wait_seconds: int | None = None
    brake_since: str | None = None
    states: tuple[str, ...] = ()
    ramp: bool = False
    idle_percent: int | None = None
    held_tenants: bool = False
    max_redrives: int | None = None
    kept_only: bool = False
    outdated: bool = False
    shown: int | None = None

    def as_json(self) -> dict[str, Any]:
        """What is kept with the operation."""
        return asdict(self) | {"states": list(self.states)}

    @classmethod
    def of(cls, found: dict[str, Any]) -> "Options":
        """Reads what was kept; what a later release knows more, and what is `unreadable`, is left out."""
        unreadable = cls.unreadable(found)
        known = {name: found[name] for name in cls.__dataclass_fields__ if name in found and name not in unreadable}
        return cls(**known | {"states": tuple(map(str, known.pop("states", ())))})

    @classmethod
    def unreadable(cls, found: dict[str, Any]) -> list[str]:
        """The options whose value is of no kind that they can have: another program wrote them."""
        return [name for name in cls.__dataclass_fields__ if name in found and not _like(name, found[name])]

    def with_states(self, states: tuple[str, ...]) -> "Options":
        """The same for jobs in these states only."""
        return replace(self, states=states)

    def check(self, kind: Kind) -> None:
        """What a new operation is begun with. Raises `InvalidInput` that names the field."""
        self.check_bounds()
        if self.ramp and self.rate is None:
            raise InvalidInput("ramp", "it needs a rate to lead up to")
        if kind is Kind.PRIORITY and self.priority is None:
            raise InvalidInput("priority", "it is missing; give a whole number")

    def check_bounds(self) -> None:
        """Of what is given alone. Raises `InvalidInput` that names the field."""
        _between("rate", self.rate, 1, FASTEST)
        _between("brake_percent", self.brake_percent, 1, 100)
        _between("brake_of", self.brake_of, 5, MOST_SAMPLES)
        _between("brake_wait_seconds", self.brake_wait_seconds, 1, 30 * 86_400)
        _between("idle_percent", self.idle_percent, 1, 100)
        _between("max_redrives", self.max_redrives, 1, MOST_REDRIVES_EVER)
        _between("priority", self.priority, -PRIORITIES, PRIORITIES)


def _like(name: str, value: Any) -> bool:
    """Is this a value of that option? Those that are off at first are numbers, but for a moment."""
    if name == "states":
        return isinstance(value, list | tuple)
    first = getattr(Options, name)
    if first is not None:
        return type(value) is type(first)
    return value is None or type(value) is (str if name == "brake_since" else int)


def _between(field: str, value: int | None, least: int, most: int) -> None:
    if value is not None and not least <= value <= most:
        raise InvalidInput(field, f"it must lie between {least:,} and {most:,}")


# The words of an outcome's reason: few, so that they can be counted. `was` states are added by the engine.
CAME_BACK = "came back to the DLQ after a redrive"
GONE = "there is no such job any more"
NOT_IN_TRASH = "it is not in the trash any more"
ID_TAKEN = "its id is taken by a new job"
EARLIER_IN_TRASH = "an earlier job of its id is in the trash"
KEY_HELD = "another active job holds its unique key"
REDRIVEN = "somebody redrove it meanwhile"
OVER_LIMIT = "redriven as often as the limit allows"
TENANT_PAUSED = "its tenant is paused"
TENANT_SUSPENDED = "its tenant is suspended"
NO_CHECKPOINT = "it has no checkpoint"
# What follows names the two versions of the handler.
OUTDATED = "its checkpoint was written by version"
