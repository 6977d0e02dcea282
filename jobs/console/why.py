"""Why a job isn't running, in words and links. What blocks was decided by `queue.waiting`; here it is only said."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobs.conf import conf
from jobs.console import words
from jobs.console.links import jobs_url
from jobs.console.words import Doing, plural
from jobs.domain.states import word
from jobs.queue.pauses import PauseInForce
from jobs.queue.waiting import MOST_AHEAD, MOST_TENANTS, Ahead, Crew, Explanation, Gate, Reasons

LIVE = "RUNNING,CANCEL_REQUESTED"
NAMES = {
    Gate.ALL_PAUSED: "Pause, everything",
    Gate.STATE: "State",
    Gate.DUE: "Not before",
    Gate.PAUSED: "Pause, type, tenant or project",
    Gate.TENANT_CAP: "Tenant’s cap",
    Gate.TYPE_CAP: "Type’s cap",
    Gate.WORKER: "Worker with a handler",
    Gate.SLOT: "Free slot",
}


@dataclass(frozen=True)
class Line:
    """One gate of a job. `result`: pass, blocks or unknown; `clears` with its address says what opens it."""

    name: str
    result: str
    sees: str
    clears: str = ""
    url: str = ""
    until: Any = None
    slots: tuple[int, int, int] | None = None  # used, in all, and of the used those that say nothing


@dataclass(frozen=True)
class Share:
    """One reason of a set: so many jobs, and what it is about. `subjects`: (words, jobs, address)."""

    name: str
    n: int
    result: str = "blocks"
    subjects: list[tuple[str, int, str]] = field(default_factory=list)
    more: int = 0


def sentence(job: dict[str, Any], one: Explanation | None, pauses: Sequence[PauseInForce]) -> Doing:
    """The first gate that holds a queued job, in a few words."""
    if one is None:
        return Doing("unknown: it changed while this was read")
    if one.blocking:
        return _blocked(job, one, pauses, one.blocking[0])
    if one.crew.unknown:
        return Doing("waits for another program’s worker")
    return Doing("waits for its turn")


def begins(one: Explanation | None, doing: Doing) -> str:
    """The text as the beginning of a sentence: a name of somebody else's making keeps its first letter."""
    named = {Gate.ALL_PAUSED, Gate.PAUSED, Gate.TENANT_CAP, Gate.TYPE_CAP}
    if one is not None and one.blocking and one.blocking[0] in named:
        return doing.text
    return doing.text[:1].upper() + doing.text[1:]


def others(job: dict[str, Any], one: Explanation, pauses: Sequence[PauseInForce]) -> list[str]:
    """What else holds it, once the first gate is open."""
    return [_blocked(job, one, pauses, gate).text for gate in one.blocking[1:] if gate is not Gate.DUE]


def _blocked(job: dict[str, Any], one: Explanation, pauses: Sequence[PauseInForce], gate: Gate) -> Doing:
    type_ = job["type"] or "the empty type"
    match gate:
        case Gate.ALL_PAUSED | Gate.PAUSED:
            found = _pauses_of(job, pauses, everything=gate is Gate.ALL_PAUSED)
            return Doing(_pause_words(found[0]) if found else "a pause holds it", held=True)
        case Gate.STATE:
            return Doing(f"it is {word(one.status)} by now")
        case Gate.DUE:
            return Doing("not to start before then", until=one.due_at)
        case Gate.TENANT_CAP:
            return Doing(_cap_words(job["tenant_id"], one.tenant_running, one.tenant_cap))
        case Gate.TYPE_CAP:
            return Doing(_cap_words(type_, one.type_running, one.type_cap))
        case Gate.WORKER:
            return Doing(_no_worker(type_, one.crew))
        case Gate.SLOT:
            return Doing(f"all {plural(one.crew.slots, 'slot')} for {type_} are in use")


def verdict(one: Explanation) -> str:
    """`2 gates block`, or nothing when it is only not its turn."""
    shut = len(one.blocking)
    return f"{plural(shut, 'gate')} {'blocks' if shut == 1 else 'block'}" if shut else ""


def lines(
    job: dict[str, Any],
    one: Explanation,
    pauses: Sequence[PauseInForce],
    ahead: Ahead | None,
    silent: dict[str, int],
    over_all: bool = True,
) -> list[Line]:
    """Every gate of a job, in the order of the claim. `silent`: running jobs that say nothing, by what they fill.

    `over_all` false: numbers over all tenants are not for whoever reads this.
    """
    everything = _pauses_of(job, pauses, everything=True)
    scoped = _pauses_of(job, pauses, everything=False)
    tenant, type_ = job["tenant_id"], job["type"]
    return [
        _line(one, Gate.ALL_PAUSED, _pause_says(everything), *_lift(everything)),
        _line(one, Gate.STATE, f"{word(one.status)}, only Queued is claimed" if one.blocks(Gate.STATE) else "Queued"),
        _line(one, Gate.DUE, _due_says(one), "its time", until=one.due_at if one.not_due else None),
        _line(one, Gate.PAUSED, _pause_says(scoped), *_lift(scoped)),
        _line(
            one, Gate.TENANT_CAP, _cap_says(tenant, one.tenant_running, one.tenant_cap, silent.get("tenant", 0)),
            *_holders(one.tenant_full, one.tenant_running, jobs_url(tenant=tenant, state=LIVE), "/tenants/"),
            slots=_slots(one.tenant_running, one.tenant_cap, silent.get("tenant", 0)),
        ),
        _type_line(job, one, silent) if over_all else _line(one, Gate.TYPE_CAP, _room_says(one)),
        _worker_line(one, type_),
        _slot_line(one),
        *([_turn_line(ahead)] if over_all else []),
    ]  # fmt: skip


def _room_says(one: Explanation) -> str:
    return "its cap is reached" if one.type_full else "it has room"


def _type_line(job: dict[str, Any], one: Explanation, silent: dict[str, int]) -> Line:
    type_ = job["type"]
    return _line(
            one, Gate.TYPE_CAP, _cap_says(type_, one.type_running, one.type_cap, silent.get("type", 0)),
            *_holders(one.type_full, one.type_running, jobs_url(type=type_, state=LIVE), "/settings/"),
            slots=_slots(one.type_running, one.type_cap, silent.get("type", 0)),
    )  # fmt: skip


def shares(reasons: Reasons, narrowed: Callable[[str, str], str], most: int = 5) -> list[Share]:
    """Why a set waits, most jobs first; then those that only wait for their turn.

    `narrowed` gives the address of the set with one more part, `tenant` or `type`.
    """
    found = []
    for gate, n in reasons.gates.most_common():
        about = [(subject, count) for (of, subject), count in reasons.subjects.most_common() if of is gate and subject]
        key = "tenant" if gate is Gate.TENANT_CAP else "type"
        subjects = [(subject, count, narrowed(key, subject)) for subject, count in about[:most]]
        found.append(Share(_reason(gate), n, subjects=subjects, more=max(0, len(about) - most)))
    if reasons.unknown:
        found.append(Share("For another program’s worker", reasons.unknown, "unknown"))
    if reasons.waiting:
        found.append(Share("Waiting for their turn", reasons.waiting, "pass"))
    return found


def _reason(gate: Gate) -> str:
    return {
        Gate.ALL_PAUSED: "Held, everything is paused",
        Gate.DUE: "Not due yet",
        Gate.PAUSED: "Held by a pause",
        Gate.TENANT_CAP: "At their tenant’s cap",
        Gate.TYPE_CAP: "At their type’s cap",
        Gate.WORKER: "Without a live worker",
        Gate.SLOT: "With every slot in use",
    }.get(gate, NAMES[gate])


def _line(one: Explanation, gate: Gate, sees: str, clears: str = "", url: str = "", **more: Any) -> Line:
    blocks = one.blocks(gate)
    return Line(
        NAMES[gate], "blocks" if blocks else "pass", sees, clears if blocks else "", url if blocks else "", **more
    )


def _worker_line(one: Explanation, type_: str) -> Line:
    crew = one.crew
    name = NAMES[Gate.WORKER]
    if crew.live:
        silent = f"; {crew.silent} silent" if crew.silent else ""
        return Line(name, "pass", f"{plural(crew.live, 'live worker')} for {type_}{silent}")
    if crew.unknown:
        sees = f"another program runs {type_} now ({plural(crew.others, 'worker')}); what it takes next is not known"
        return Line(name, "unknown", sees, "Workers", "/workers/")
    return Line(name, "blocks", _no_worker(type_ or "the empty type", crew), "a worker that has it", "/workers/")


def _slot_line(one: Explanation) -> Line:
    crew = one.crew
    if crew.live:
        return _line(one, Gate.SLOT, f"{crew.free:,} of {plural(crew.slots, 'slot')} free", "the next end", "/workers/")
    if crew.unknown:
        return Line(NAMES[Gate.SLOT], "unknown", "another program’s slots are not known")
    return Line(NAMES[Gate.SLOT], "unknown", "no worker, no slot")


def _turn_line(ahead: Ahead | None) -> Line:
    if ahead is None:
        return Line("Turn", "unknown", "it is not queued")
    parts = [f"{_at_least(ahead.own)} older of its own tenant and type"]
    if ahead.higher:
        parts.append(f"{_at_least(ahead.higher)} of higher priority")
    if conf().claim_order == "strict":
        parts.append("strict order: over all tenants by time")
    elif ahead.tenants:
        sign = "≥ " if ahead.tenants >= MOST_TENANTS else ""
        parts.append(f"takes turns with {sign}{plural(ahead.tenants, 'other tenant')}")
    first = not (ahead.own or ahead.higher or ahead.tenants)
    return Line("Turn", "pass", "it is the next of all" if first else ", ".join(parts))


def _due_says(one: Explanation) -> str:
    if one.not_due:
        return "not to start before"
    return "no time is set" if one.due_at is None else "its time has come"


def _at_least(n: int) -> str:
    return f"≥ {n:,}" if n >= MOST_AHEAD else f"{n:,}"


def _pauses_of(job: dict[str, Any], pauses: Sequence[PauseInForce], *, everything: bool) -> list[PauseInForce]:
    found = [one for one in pauses if words.holds(one, job)]
    return [one for one in found if (one.type is one.tenant_id is one.project_id is None) == everything]


def _pause_words(pause: PauseInForce) -> str:
    ends = f"until {pause.ends_at:%H:%M} UTC" if pause.ends_at else "with no end set"
    return f"{pause.scope} {'are' if pause.scope.startswith('All types') else 'is'} paused {ends}"


def _pause_says(found: Sequence[PauseInForce]) -> str:
    if not found:
        return "none"
    more = f", and {plural(len(found) - 1, 'more pause')}" if found[1:] else ""
    return f"{found[0].scope}, by {found[0].owner}: {words.first_line(found[0].reason, 120)}{more}"


def _lift(found: Sequence[PauseInForce]) -> tuple[str, str]:
    ends = next((f"{one.ends_at:%H:%M} UTC, or lift it" for one in found if one.ends_at), "lift it")
    return ends, "/pauses/"


def _cap_words(whose: str, running: int, cap: int | None) -> str:
    return f"{whose} is suspended: its cap is 0" if cap == 0 else f"{whose} uses {running:,} of {cap or 0:,} slots"


def _cap_says(whose: str, running: int, cap: int | None, silent: int) -> str:
    if cap is None:
        return f"no cap for {whose or '(empty)'}; {running:,} running"
    more = f"; {silent} of them silent" if silent else ""
    return _cap_words(whose or "(empty)", running, cap) + more


def _slots(running: int, cap: int | None, silent: int) -> tuple[int, int, int] | None:
    return (min(running, cap), cap, min(silent, cap)) if cap and cap <= 16 else None


def _holders(full: bool, running: int, url: str, settings_url: str) -> tuple[str, str]:
    if not full:
        return "", ""
    return (f"show the {plural(running, 'job')}", url) if running else ("raise the cap", settings_url)


def _no_worker(type_: str, crew: Crew) -> str:
    if crew.silent:
        return f"the workers for {type_} are silent ({crew.silent})"
    if crew.stopping:
        return f"the workers for {type_} are stopping"
    return f"no live worker has a handler for {type_}" if crew.workers else "no live worker"
