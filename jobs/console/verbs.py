"""What can be done to one job from its page: words, the states that allow it, and the action behind it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from jobs.domain.errors import CannotResume, InvalidInput, StillAlive
from jobs.domain.states import DEAD_LETTERED, ENDED, JobStatus
from jobs.operations import actions
from jobs.operations.actions import Person
from jobs.queue.transitions import Moved
from jobs.rows import Row

TRASH = "TRASH"
_WHOLE = re.compile(r"-?[0-9]{1,12}")


@dataclass(frozen=True)
class Done:
    """What came of it: the toast's words, and the job to look at."""

    text: str
    job_id: str


type Act = Callable[[Person, Row, str, Mapping[str, str]], Done]


@dataclass(frozen=True)
class Verb:
    """One action. `fields` are the options of its command that a form's fields answer, `also` fields without one; `once`:
    it makes something new, so that one form does it once."""

    button: str
    title: str
    submit: str
    states: frozenset[str]
    effect: Callable[[Row], str]
    act: Act
    fields: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    danger: bool = False
    once: bool = False


def _one(answers: list[Moved], verb: str) -> Moved:
    """The answer for the job; its refusal is raised."""
    if not answers[0].changed:
        raise answers[0].refusal(verb)
    return answers[0]


def _simply(name: str, verb: str, text: str) -> Act:
    def act(who: Person, row: Row, reason: str, fields: Mapping[str, str]) -> Done:
        _one(getattr(actions, name)(who, [row["id"]], reason), verb)
        return Done(text, row["id"])

    return act


def _cancel(who: Person, row: Row, reason: str, fields: Mapping[str, str]) -> Done:
    asked = _one(actions.cancel(who, [row["id"]], reason), "cancel").now == JobStatus.CANCEL_REQUESTED
    return Done("asked to stop." if asked else "cancelled.", row["id"])


def _retry(who: Person, row: Row, reason: str, fields: Mapping[str, str]) -> Done:
    keep, must = fields.get("checkpoint") != "drop", fields.get("checkpoint") == "keep"
    try:
        _one(actions.retry(who, [row["id"]], reason, keep_checkpoint=keep, must_resume=must), "retry")
    except CannotResume as error:
        raise InvalidInput("checkpoint", f"{error.why}; start from the beginning instead") from error
    return Done("back in the queue." if keep else "back in the queue, from the beginning.", row["id"])


def _rerun(who: Person, row: Row, reason: str, fields: Mapping[str, str]) -> Done:
    return Done("queued again.", actions.rerun(who, row["id"], reason))


def _set_priority(who: Person, row: Row, reason: str, fields: Mapping[str, str]) -> Done:
    text = fields.get("priority", "").strip()
    if not _WHOLE.fullmatch(text):
        raise InvalidInput("priority", "it is no whole number")
    _one(actions.set_priority(who, [row["id"]], reason, int(text)), "set priority")
    return Done(f"priority {int(text):,}.", row["id"])


def _force_cancel(who: Person, row: Row, reason: str, fields: Mapping[str, str]) -> Done:
    sure = fields.get("sure", "") == "on"
    try:
        _one(actions.force_cancel(who, [row["id"]], reason, sure), "force cancel")
    except StillAlive as error:
        raise InvalidInput(
            "sure", f"its worker is alive, its heartbeat {error.seconds:.0f} s old; tick it to force it"
        ) from error
    return Done("cancelled; its run is fenced off.", row["id"])


def _cancel_effect(row: Row) -> str:
    if row["state"] == JobStatus.RUNNING:
        return "Its worker is asked to stop, and stops at its next check. The checkpoint is kept."
    return "It ends at once: no worker has it."


def _purge_effect(row: Row) -> str:
    return "It goes to the trash, and can be restored as it is for 7 days."


VERBS: dict[str, Verb] = {
    "run_now": Verb(
        "Run now…", "Run now", "Run now", frozenset({JobStatus.RETRY_WAIT}),
        lambda row: "The wait before the retry ends. Caps and pauses still hold.",
        _simply("run_now", "run now", "back in the queue."),
    ),
    "retry": Verb(
        "Retry…", "Retry", "Retry the job", frozenset({DEAD_LETTERED}),
        lambda row: "It leaves the DLQ and waits in the queue, with a fresh retry budget.",
        _retry, {"--checkpoint": "checkpoint"},
    ),
    "rerun": Verb(
        "Run again…", "Run again", "Run again", ENDED | {DEAD_LETTERED},
        lambda row: "A new job with the same config is queued. This one stays as it is.",
        _rerun, once=True,
    ),
    "set_priority": Verb(
        "Priority…", "Set priority", "Set the priority", frozenset({JobStatus.QUEUED, JobStatus.RETRY_WAIT}),
        lambda row: "Higher goes first, over all tenants. Caps and pauses still hold.",
        _set_priority, {"--to": "priority"},
    ),
    "cancel": Verb(
        "Cancel…", "Cancel", "Cancel the job",
        frozenset({JobStatus.QUEUED, JobStatus.RETRY_WAIT, JobStatus.RUNNING}), _cancel_effect, _cancel,
    ),
    "force_cancel": Verb(
        "Force cancel…", "Force cancel", "Force cancel", frozenset({JobStatus.RUNNING, JobStatus.CANCEL_REQUESTED}),
        lambda row: (
            "The job is Cancelled at once, without its worker’s word. Whatever the worker still reports changes nothing."
        ),
        _force_cancel, danger=True, also=("sure",),
    ),
    "purge": Verb(
        "Purge…", "Purge", "Purge the job", ENDED | {DEAD_LETTERED}, _purge_effect,
        _simply("purge", "purge", "in the trash."), danger=True,
    ),
    "restore": Verb(
        "Restore…", "Restore", "Restore the job", frozenset({TRASH}),
        lambda row: "It comes back from the trash, in every column as it was.",
        _simply("restore", "restore", "back as it was."),
    ),
}  # fmt: skip
COMMANDS = {"set_priority": "priority"}


def command_word(name: str) -> str:
    """The verb of `manage.py job` that does this."""
    return COMMANDS.get(name, name.replace("_", "-"))
