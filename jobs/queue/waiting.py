"""Why a job isn't running: the claim's own conditions, asked one by one. Writes nothing, locks nothing.

What a gate says comes from the functions that the claim asks; only what no claim looks at, the workers, is added here.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from jobs.conf import conf
from jobs.queue.statements import Connection, run
from jobs.rows import Row

# A count of what is ahead stops here: then it is "at least".
MOST_AHEAD = 1_000
MOST_TENANTS = 200


class Gate(StrEnum):
    """What has to let a job pass before it runs, in the order in which a claim looks."""

    ALL_PAUSED = "all_paused"
    STATE = "state"
    DUE = "due"
    PAUSED = "paused"
    TENANT_CAP = "tenant_cap"
    TYPE_CAP = "type_cap"
    WORKER = "worker"
    SLOT = "slot"


@dataclass(frozen=True)
class Crew:
    """Who could run a type. `others` are another program's workers that run it now; what they take next is unknown."""

    type: str
    live: int = 0
    silent: int = 0
    stopping: int = 0
    slots: int = 0
    free: int = 0
    others: int = 0
    workers: int = 0

    @property
    def unknown(self) -> bool:
        """None of ours can, but another program may."""
        return not self.live and self.others > 0


@dataclass(frozen=True)
class Explanation:
    """One job's gates, as of `at` by the database's clock. A cap of None: unlimited."""

    job_id: str
    type: str
    status: str
    at: datetime
    due_at: datetime | None
    not_due: bool
    all_paused: bool
    paused: bool
    tenant_running: int
    tenant_cap: int | None
    tenant_full: bool
    type_running: int
    type_cap: int | None
    type_full: bool
    eligible: bool
    crew: Crew

    @property
    def blocking(self) -> list[Gate]:
        """The gates that are shut, in the claim's order; none when only its turn is missing."""
        return [gate for gate in Gate if self.blocks(gate)]

    def blocks(self, gate: Gate) -> bool:
        """Is this gate shut?"""
        match gate:
            case Gate.ALL_PAUSED:
                return self.all_paused
            case Gate.STATE:
                return self.status != "QUEUED"
            case Gate.DUE:
                return self.not_due
            case Gate.PAUSED:  # what pauses everything is the first gate's
                return self.paused and not self.all_paused
            case Gate.TENANT_CAP:
                return self.tenant_full
            case Gate.TYPE_CAP:
                return self.type_full
            case Gate.WORKER:
                return not self.crew.live and not self.crew.unknown
            case Gate.SLOT:
                return self.crew.live > 0 and self.crew.free == 0


@dataclass(frozen=True)
class Ahead:
    """What is before a job: older ones of its own lane, higher priorities, other tenants that take turns."""

    own: int
    higher: int
    tenants: int


@dataclass(frozen=True)
class Lane:
    """Queued jobs of one type, tenant and project; `later` of the `n` are not due yet."""

    type: str
    tenant_id: str
    project_id: str | None
    n: int
    later: int = 0


@dataclass
class Reasons:
    """Why the jobs of a set wait, each job at its first shut gate. `waiting`: only its turn is missing."""

    total: int = 0
    gates: Counter[Gate] = field(default_factory=Counter)
    waiting: int = 0
    # (gate, what it is about) → jobs: the type of a type's cap, the tenant of a tenant's.
    subjects: Counter[tuple[Gate, str]] = field(default_factory=Counter)
    unknown: int = 0


def explain(ids: Sequence[str], using: Connection | None = None) -> dict[str, Explanation]:
    """The gates of these jobs, by id. Jobs that are gone are left out."""
    rows = run("explain", {"ids": list(ids), **_caps()}, using)
    crews_by_type = crews({row["type"] for row in rows}, using) if rows else {}
    return {row["job_id"]: Explanation(**row, crew=crews_by_type[row["type"]]) for row in rows}


def crews(types: Iterable[str], using: Connection | None = None) -> dict[str, Crew]:
    """The workers of each type."""
    names = sorted(set(types))
    beat = conf().heartbeat_interval.total_seconds()
    forget = max(600.0, 2 * conf().stale_timeout.total_seconds())
    return {
        row["type"]: Crew(**row) for row in run("crews", {"types": names, "silent": 3 * beat, "forget": forget}, using)
    }


def ahead(job_id: str, using: Connection | None = None) -> Ahead | None:
    """What is before this queued job; None when it is not queued. Counts stop at `MOST_AHEAD`."""
    beat = conf().heartbeat_interval.total_seconds()
    params = {"id": job_id, "silent": 3 * beat, "most": MOST_AHEAD, "most_tenants": MOST_TENANTS}
    rows = run("ahead", params, using)
    return Ahead(**rows[0]) if rows else None


def explain_set(lanes: Sequence[Lane], using: Connection | None = None) -> Reasons:
    """Why the queued jobs of these lanes wait."""
    params = {
        "types": [lane.type for lane in lanes],
        "tenants": [lane.tenant_id for lane in lanes],
        "projects": [lane.project_id for lane in lanes],
    }
    rows = run("lane_gates", params | _caps(), using) if lanes else []
    crews_by_type = crews({lane.type for lane in lanes}, using) if lanes else {}
    reasons = Reasons()
    for lane, row in zip(lanes, rows, strict=True):
        _add(reasons, lane, row, crews_by_type.get(lane.type, Crew(lane.type)))
    return reasons


def _add(reasons: Reasons, lane: Lane, row: Row, crew: Crew) -> None:
    reasons.total += lane.n
    now = lane.n
    if not row["all_paused"] and lane.later:
        _count(reasons, Gate.DUE, "", lane.later)
        now -= lane.later
    gate, subject = _shut(lane, row, crew)
    if gate is not None:
        _count(reasons, gate, subject, now)
    elif crew.unknown:
        reasons.unknown += now
    else:
        reasons.waiting += now


def _shut(lane: Lane, row: Row, crew: Crew) -> tuple[Gate | None, str]:
    """The first gate that is shut for the lane's due jobs."""
    shut: Mapping[Gate, tuple[bool, str]] = {
        Gate.ALL_PAUSED: (row["all_paused"], ""),
        Gate.PAUSED: (row["paused"], lane.type),
        Gate.TENANT_CAP: (row["tenant_full"], lane.tenant_id),
        Gate.TYPE_CAP: (row["type_full"], lane.type),
        Gate.WORKER: (not crew.live and not crew.unknown, lane.type),
        Gate.SLOT: (crew.live > 0 and crew.free == 0, lane.type),
    }
    return next(((gate, subject) for gate, (is_shut, subject) in shut.items() if is_shut), (None, ""))


def _count(reasons: Reasons, gate: Gate, subject: str, n: int) -> None:
    if n:
        reasons.gates[gate] += n
        reasons.subjects[gate, subject] += n


def _caps() -> Row:
    """The caps where nothing else is set, as the workers have them."""
    return {"tenant_cap": conf().tenant_cap, "type_caps": json.dumps({"DISCOVER": conf().discover_cap})}
