"""Was every rule of the queue kept? Read afterwards, from the history and the rows' own times, not from samples.

Reads only, in one snapshot. Exact for what our claimers start, whose times are taken under their locks. A run that
began without those locks (tracked, or claimed by another program) is visible to our claims only from its commit on,
which no row names: it counts against a cap from `UNLOCKED_GRACE` after its start.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any

from jobs.domain.states import ENDED, TRANSITIONS, JobStatus, state
from jobs.queue import gate
from jobs.queue.gate import GateHistory
from jobs.queue.statements import Connection, run
from jobs.rows import Row

UNLOCKED_GRACE = timedelta(seconds=5)
_EVER = datetime(1970, 1, 1, tzinfo=UTC)
_NEVER = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Finding:
    """One rule broken. `kind` is one of the words below, `at` when (database's clock), `text` for people."""

    kind: str
    text: str
    job_id: str | None = None
    at: datetime | None = None


@dataclass(frozen=True)
class Terms:
    """What holds without a setting in the database, and the period (UTC) that is looked at.

    `slack`: how long past its time the sweep may leave a job lying.
    """

    tenant_cap: int
    type_caps: dict[str, int]
    stale_timeout: timedelta
    slack: timedelta = timedelta(minutes=2)
    since: datetime = _EVER
    until: datetime = _NEVER


@dataclass(frozen=True)
class RunSpan:
    """One run: from `start` until `end` (None: it is running). `claimed`: by the door, under its locks."""

    job_id: str
    tenant_id: str
    type: str
    inline: bool
    worker: str | None
    claimed: bool
    start: datetime
    end: datetime | None

    @property
    def counts_from(self) -> datetime:
        """From when on a claim certainly saw it."""
        return self.start if self.claimed else self.start + UNLOCKED_GRACE


def check(using: Connection, terms: Terms) -> list[Finding]:
    """All that was found, on a connection in autocommit.

    Kinds: `tenant_cap`, `type_cap`, `pause`, `running_twice`, `not_owner`, `path`, `gap`, `stuck`, `tally`.
    """
    with _snapshot(using):
        history = gate.read(using)
        edges = run("check_edges", _period(terms), using)
        runs = list(_runs(edges, run("check_live", {}, using)))
        return [
            *_over_caps(runs, history, terms),
            *_in_pauses(runs, history, terms, using),
            *_twice(edges, runs),
            *_not_owners(edges),
            *_paths(run("check_paths", _period(terms), using)),
            *_gaps(run("check_gaps", _period(terms), using)),
            *_stuck(using, terms),
            *_tallies(using),
        ]


# --- Runs -------------------------------------------------------------------------------------------------------------


def _runs(edges: list[Row], live: list[Row]) -> Iterator[RunSpan]:
    """The runs of the period; one that began before it counts from its own start."""
    still = {row["job_id"]: row for row in live}
    for job_id, steps in groupby(edges, key=itemgetter("job_id")):
        begun: Row | None = None
        for step in steps:
            if step["began"]:
                begun = step
            else:
                yield _span(begun or step | {"at": step["started"] or step["at"], "started": None}, step["at"])
                begun = None
        row = still.pop(job_id, None)
        if begun is not None and row is not None:
            yield _span(begun, None)
    for row in still.values():
        yield _span(row | {"at": row["started"], "actor": None, "from_status": None}, None)


def _span(begun: Row, end: datetime | None) -> RunSpan:
    claimed = _by_the_door(begun)
    start = begun["started"] if claimed and begun["started"] else begun["at"]
    return RunSpan(
        begun["job_id"], begun["tenant_id"], begun["type"], begun["inline"], begun["worker"], claimed, start, end
    )


def _by_the_door(step: Row) -> bool:
    """A claim of ours: the worker itself is its actor."""
    return step["from_status"] == JobStatus.QUEUED and step["actor"] == step["worker"] and not step["inline"]


# --- Caps and pauses --------------------------------------------------------------------------------------------------


@dataclass
class _Lane:
    """What counts against one cap, to be asked how many ran at a moment."""

    starts: list[datetime] = field(default_factory=list)
    ends: list[datetime] = field(default_factory=list)
    claims: list[RunSpan] = field(default_factory=list)

    @classmethod
    def of(cls, runs: Iterable[RunSpan]) -> "_Lane":
        lane = cls()
        for one in runs:
            if one.end is None or one.counts_from < one.end:
                lane.starts.append(one.counts_from)
                lane.ends += [one.end] if one.end else []
            lane.claims += [one] if one.claimed else []
        lane.starts.sort()
        lane.ends.sort()
        return lane

    def running(self, moment: datetime) -> int:
        """How many ran once everything that started at that moment had started."""
        return bisect_right(self.starts, moment) - bisect_right(self.ends, moment)


def _over_caps(runs: list[RunSpan], history: GateHistory, terms: Terms) -> Iterator[Finding]:
    """Lowering a cap stops nothing that runs: what is looked at is every claim's own moment."""
    not_inline = [one for one in runs if not one.inline]
    yield from _over(
        "tenant_cap",
        not_inline,
        "tenant_id",
        lambda key, at: history.tenant_cap(key, terms.tenant_cap, at),
        terms,
        history,
    )
    yield from _over(
        "type_cap", runs, "type", lambda key, at: history.type_cap(key, terms.type_caps, at), terms, history
    )


def _over(
    kind: str,
    runs: list[RunSpan],
    by: str,
    cap_at: Callable[[str, datetime], int | None],
    terms: Terms,
    history: GateHistory,
) -> Iterator[Finding]:
    key = attrgetter(by)
    for name, group in groupby(sorted(runs, key=key), key=key):
        lane = _Lane.of(group)
        for claim in lane.claims:
            cap = cap_at(name, claim.start)
            if cap is not None and _known(claim.start, history, terms) and lane.running(claim.start) > cap:
                text = f"{name}: {lane.running(claim.start)} running, cap {cap}, when {claim.worker} started it"
                yield Finding(kind, text, claim.job_id, claim.start)


def _in_pauses(runs: list[RunSpan], history: GateHistory, terms: Terms, using: Connection) -> Iterator[Finding]:
    claims = sorted((one for one in runs if one.claimed), key=attrgetter("start"))
    starts = [one.start for one in claims]
    caught = []
    for pause in history.pauses():
        first = bisect_right(starts, pause.start)
        last = bisect_left(starts, pause.end) if pause.end else len(starts)
        caught += [(pause, one) for one in claims[first:last] if pause.holds(one.type, one.tenant_id)]
    projects = _projects([one.job_id for pause, one in caught if pause.project_id is not None], using)
    for pause, one in caught:
        if pause.project_id in (None, projects.get(one.job_id)) and _known(one.start, history, terms):
            yield Finding("pause", f"started by {one.worker} while {pause.key} held it", one.job_id, one.start)


def _projects(job_ids: list[str], using: Connection) -> dict[str, str | None]:
    if not job_ids:
        return {}
    return {row["id"]: row["project_id"] for row in run("check_projects", {"ids": job_ids}, using)}


def _known(moment: datetime, history: GateHistory, terms: Terms) -> bool:
    return history.begin is not None and max(history.begin, terms.since) <= moment < terms.until


# --- Histories --------------------------------------------------------------------------------------------------------


def _twice(edges: list[Row], runs: list[RunSpan]) -> Iterator[Finding]:
    for job_id, steps in groupby(edges, key=itemgetter("job_id")):
        running = False
        for step in steps:
            if step["began"] and running:
                yield Finding("running_twice", f"{step['actor']} started it while it ran", job_id, step["at"])
            running = step["began"]
    for job_id, spans in groupby(sorted(runs, key=attrgetter("job_id", "start")), key=attrgetter("job_id")):
        before: RunSpan | None = None
        for span in spans:
            if before is not None and span.claimed and before.claimed and before.end and span.start < before.end:
                text = f"{span.worker} started it before the run of {before.worker} had ended"
                yield Finding("running_twice", text, job_id, span.start)
            before = span


def _not_owners(edges: list[Row]) -> Iterator[Finding]:
    workers = {step["worker"] for step in edges if step["began"]} - {None}
    for step in edges:
        if not step["began"] and step["actor"] in workers and step["actor"] != step["worker"]:
            text = f"{step['actor']} ended ({step['to_status']}) the run of {step['worker']}"
            yield Finding("not_owner", text, step["job_id"], step["at"])


def _paths(steps: list[Row]) -> Iterator[Finding]:
    for step in steps:
        was, becomes = _state(step["from_status"], step["from_dlq"]), _state(step["to_status"], step["to_dlq"])
        if not _is_way(was, becomes):
            text = f"{was or 'nothing'} → {becomes or 'nothing'} is no transition ({step['n']} times, {step['actor']})"
            yield Finding("path", text, step["job_id"], step["at"])


def _is_way(was: str | None, becomes: str | None) -> bool:
    if was is None or becomes is None:
        return (was or becomes) in {*ENDED, "DEAD_LETTERED"} or becomes in (JobStatus.QUEUED, JobStatus.RUNNING)
    if was == becomes:
        return True  # only its DLQ flag was put right
    return any(was in (one.source or ()) and becomes == one.target for one in TRANSITIONS if one.name != "rerun")


def _state(status: str | None, dlq: bool) -> str | None:
    return None if status is None else state(status, dlq)


def _gaps(rows: list[Row]) -> Iterator[Finding]:
    for row in rows:
        text = f"its history says {row['expected'] or 'gone'}, but it was {row['found'] or 'gone'}"
        yield Finding("gap", text, row["job_id"], row["at"])


# --- What is now ------------------------------------------------------------------------------------------------------


def _stuck(using: Connection, terms: Terms) -> Iterator[Finding]:
    params = {"slack_seconds": terms.slack.total_seconds(), "stale_seconds": terms.stale_timeout.total_seconds()}
    for row in run("check_stuck", params, using):
        yield Finding("stuck", f"{row['state']}: {row['why']}", row["job_id"], row["since"])


def _tallies(using: Connection) -> Iterator[Finding]:
    for row in run("check_tallies", {}, using):
        where = f"{row['type']} of {row['tenant_id']} {row['state']}"
        yield Finding("tally", f"{where}: counted {row['counted']}, there are {row['rows']}")


# --- Helpers ----------------------------------------------------------------------------------------------------------


def _period(terms: Terms) -> dict[str, Any]:
    return {"since": terms.since, "until": terms.until}


@contextmanager
def _snapshot(using: Connection) -> Iterator[None]:
    """One view of everything: what is committed meanwhile is not seen half."""
    with using.cursor() as cursor:
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")
