"""Bulk operations as rows: the frozen set, the outcome of each row, and who works on it. No policy; every change of a
job itself goes through the door.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import connection

from jobs.conf import conf
from jobs.domain.bulk import (
    CAME_BACK,
    NO_CHECKPOINT,
    OVER_LIMIT,
    TENANT_PAUSED,
    TENANT_SUSPENDED,
    Kind,
    Options,
)
from jobs.domain.json_input import json_object
from jobs.domain.states import state
from jobs.queue.statements import run
from jobs.rows import Row

# A worker that has said nothing of its operation for so long is succeeded.
LEASE_SECONDS = 10.0
# Freezing reads everything that matches, in one statement; more than this is narrowed first.
FREEZE_SECONDS = 25
LOCK_MILLISECONDS = 500


@dataclass(frozen=True)
class Selection:
    """Which rows: a condition on `"PlatformJob" j`, or on the trash's `j`, and what it says in words and for the audit.

    `condition` holds placeholders only; values are in `params`, whose names do not begin with `op_`.
    """

    condition: str
    params: dict[str, Any] = field(default_factory=dict)
    filter: dict[str, Any] = field(default_factory=dict)
    trash: bool = False


class Item(NamedTuple):
    """One row of a set that is still to be decided."""

    position: int
    job_id: str
    state: str
    redrives: int


class Decided(NamedTuple):
    """What became of one row: done, skipped or failed."""

    position: int
    outcome: str
    reason: str | None = None
    detail: str | None = None


@dataclass(frozen=True)
class Found:
    """A job as a batch found it. `state` None: there is none. `locked`: somebody else is at it. `kept`: has a checkpoint."""

    state: str | None
    redrives: int
    locked: bool
    kept: bool


@dataclass(frozen=True)
class Counted:
    """How far an operation is."""

    done: int
    skipped: int
    failed: int
    total: int


@dataclass(frozen=True)
class Taken:
    """An operation that is ours for a while."""

    id: int
    kind: Kind
    actor: str
    reason: str
    options: Options
    total: int
    reached: int = 0
    # Options that cannot be read, so that nobody knows how it is to be done.
    unreadable: tuple[str, ...] = ()


# --- The set ----------------------------------------------------------------------------------------------------------
JOBS = """
    SELECT j.id, j."tenantId" AS tenant_id, j.type, detiq_state(j.status::text, j.dlq) AS state,
           j."redriveCount" AS redrives, coalesce(j."dlqAt", j."queuedAt")::timestamptz AS since,
           detiq_kept(j.checkpoint) AS kept, j."checkpointVersion" AS code{more}
      FROM "PlatformJob" j WHERE {condition}"""
TRASH = """
    SELECT j.job_id AS id, j.tenant_id, coalesce(j.row ->> 'type', '') AS type,
           detiq_state(j.row ->> 'status', coalesce((j.row ->> 'dlq')::boolean, false)) AS state,
           coalesce((j.row ->> 'redriveCount')::integer, 0) AS redrives, j.purged_at AS since, false AS kept,
           NULL AS code{more}
      FROM job_trash j WHERE {condition}"""

# What is left out of a redrive from the start, and why: `left_out` of each row of `chosen`, in the order of the reasons. The
# preview asks the same statement, so that it shows what will be.
JUDGED = """
tenant AS MATERIALIZED (
    SELECT tenant_id FROM chosen WHERE %(op_no_held)s GROUP BY tenant_id
), paused AS MATERIALIZED (
    SELECT p.tenant_id, p.type FROM queue_pause p
     WHERE %(op_no_held)s AND p.lifted_at IS NULL AND (p.ends_at IS NULL OR p.ends_at > clock_timestamp())
       AND p.tenant_id IS NOT NULL AND p.project_id IS NULL
), suspended AS MATERIALIZED (
    SELECT tenant_id FROM tenant WHERE detiq_tenant_cap(tenant_id, %(op_cap)s) = 0
), outdated AS MATERIALIZED (
    SELECT type, code, detiq_outdated(type, code) AS why FROM chosen
     WHERE %(op_resumes)s AND kept AND code IS NOT NULL GROUP BY type, code
), judged AS (
    SELECT c.*,
           CASE WHEN %(op_no_boomerangs)s AND c.redrives > 0 THEN %(op_came_back)s
                WHEN c.redrives >= %(op_most)s THEN %(op_over)s
                WHEN c.tenant_id IN (SELECT tenant_id FROM paused WHERE type IS NULL)
                  OR (c.tenant_id, c.type) IN (SELECT tenant_id, type FROM paused WHERE type IS NOT NULL)
                THEN %(op_paused)s
                WHEN c.tenant_id IN (SELECT tenant_id FROM suspended) THEN %(op_suspended)s
                WHEN %(op_kept_only)s AND NOT c.kept THEN %(op_no_checkpoint)s
                ELSE o.why
           END AS left_out
      FROM chosen c LEFT JOIN outdated o ON c.kept AND (o.type, o.code) = (c.type, c.code)
)"""

# Tenants take turns, the oldest of each first: the order of the set is the order of the work.
_FREEZE = """
WITH chosen AS MATERIALIZED ({source}
), {judged}, placed AS (
    SELECT j.*, row_number() OVER (PARTITION BY tenant_id ORDER BY since, id) AS turn FROM judged j
), frozen AS (
    INSERT INTO operation_item (operation_id, position, job_id, tenant_id, type, state, redrives, outcome, reason, at)
    SELECT %(op_id)s, row_number() OVER (ORDER BY turn, tenant_id), id, tenant_id, type, state, redrives,
           CASE WHEN left_out IS NOT NULL THEN 'skipped' END, left_out,
           CASE WHEN left_out IS NOT NULL THEN clock_timestamp() END
      FROM placed
    RETURNING outcome
)
UPDATE operation o SET total = f.total, skipped = f.skipped
  FROM (SELECT count(*)::integer AS total, count(outcome)::integer AS skipped FROM frozen) f
 WHERE o.id = %(op_id)s
RETURNING o.total
"""


def source(selection: Selection, more: str = "") -> str:
    """The rows of a selection as a SELECT of id, tenant_id, type, state, redrives, since, kept, code, and `more` columns."""
    return (TRASH if selection.trash else JOBS).format(condition=selection.condition, more=more)


def judging(kind: Kind, options: Options) -> Row:
    """The parameters of `JUDGED`: of anything but a redrive nothing is left out."""
    redrive = kind is Kind.RETRY
    return {
        "op_no_boomerangs": redrive and not options.boomerangs,
        "op_no_held": redrive and not options.held_tenants,
        "op_kept_only": redrive and options.kept_only,
        "op_resumes": redrive and options.keep_checkpoint and not options.outdated,
        "op_most": options.max_redrives if redrive and options.max_redrives else 2**31 - 1,
        "op_cap": conf().tenant_cap,
        "op_came_back": CAME_BACK,
        "op_over": OVER_LIMIT,
        "op_paused": TENANT_PAUSED,
        "op_suspended": TENANT_SUSPENDED,
        "op_no_checkpoint": NO_CHECKPOINT,
    }


def begin(
    kind: Kind, selection: Selection, *, actor: str, reason: str, options: Options, key: str | None
) -> tuple[int, int, bool]:
    """A new operation over what matches now, in the caller's transaction: (id, size of its set, is it new)."""
    params = {"kind": kind.value, "actor": actor, "reason": reason, "filter": json.dumps(selection.filter),
              "options": json.dumps(options.as_json()), "key": key}  # fmt: skip
    made = run("operation_begin", params)
    if not made:
        found = run("operation_by_key", {"key": key})[0]
        return found["id"], found["total"], False
    operation_id: int = made[0]["id"]
    return operation_id, _freeze(operation_id, kind, selection, options), True


def of_key(key: str) -> int | None:
    """The operation that was begun under a key."""
    return next((row["id"] for row in run("operation_by_key", {"key": key})), None)


def _freeze(operation_id: int, kind: Kind, selection: Selection, options: Options) -> int:
    params = selection.params | judging(kind, options) | {"op_id": operation_id}
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{FREEZE_SECONDS}s"])
        cursor.execute(_FREEZE.format(source=source(selection), judged=JUDGED), params)
        total: int = cursor.fetchone()[0]
        cursor.execute("SELECT set_config('statement_timeout', '0', true)")
    return total


# --- The work ---------------------------------------------------------------------------------------------------------
def take(operation_id: int, runner: str) -> Taken | None:
    """Takes it, or goes on with it; None when it does not move or somebody else has it."""
    rows = run("operation_take", {"id": operation_id, "runner": runner, "lease_seconds": LEASE_SECONDS})
    if not rows:
        return None
    row = rows[0]
    found = json.loads(row["options"]) if isinstance(row["options"], str) else row["options"]
    options = json_object(found)
    unreadable = tuple(Options.unreadable(options)) if isinstance(found, dict) else ("options",)
    return Taken(row["id"], Kind(row["kind"]), row["actor"], row["reason"], Options.of(options), row["total"],
                 row["reached"], unreadable)  # fmt: skip


def lock(operation_id: int, runner: str) -> float | None:
    """Holds it for this transaction: seconds of unused allowance; None when it is not ours to move any more."""
    impatient()
    rows = run("operation_lock", {"id": operation_id, "runner": runner})
    if not rows or not rows[0]["ours"] or rows[0]["state"] != "RUNNING":
        return None
    return float(rows[0]["idle_seconds"] or 0.0)


def impatient() -> None:
    """In this transaction no lock is waited for any longer than a moment."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{LOCK_MILLISECONDS}ms"])


def items(operation_id: int, after: int, limit: int) -> list[Item]:
    """The next rows to decide, behind a position."""
    rows = run("operation_items", {"id": operation_id, "after": after, "limit": limit})
    return [Item(row["position"], row["job_id"], row["state"], row["redrives"]) for row in rows]


def jobs_now(job_ids: Sequence[str]) -> dict[str, Found]:
    """What each job is now. Those that nobody else has locked are ours until the end of the transaction."""
    rows = run("operation_jobs", {"ids": list(job_ids)})
    return {row["id"]: _found(row) for row in rows}


def _found(row: Row) -> Found:
    found = None if row["status"] is None else state(row["status"], row["dlq"])
    return Found(found, row["redrives"] or 0, row["locked"], bool(row["kept"]))


def write(
    operation_id: int, decided: Sequence[Decided], *, reached: int, rate: float | None, burst_seconds: float
) -> Counted:
    """Records outcomes and the progress; `reached`: the position up to which rows were looked at."""
    row = run(
        "operation_write",
        {
            "id": operation_id,
            "positions": [one.position for one in decided],
            "outcomes": [one.outcome for one in decided],
            "reasons": [one.reason for one in decided],
            "details": [one.detail for one in decided],
            "seconds_each": 60.0 / rate if rate else 0.0,
            "burst_seconds": burst_seconds,
            "reached": reached,
        },
    )[0]
    return Counted(**row)


def beat(operation_id: int, runner: str) -> None:
    """It is still worked on, though nothing is to be done at the moment."""
    run("operation_beat", {"id": operation_id, "runner": runner})


def end(operation_id: int, runner: str) -> Counted | None:
    """Done, if nothing is left; None else."""
    rows = run("operation_end", {"id": operation_id, "runner": runner})
    return Counted(**rows[0]) if rows else None


def move(
    operation_id: int, *, to: str, sources: Sequence[str], note: str = "", options: Row | None = None
) -> Row | None:
    """A step of the operation itself, guarded by its state: found, kind, changed and the counts; None: there is none."""
    params = {"id": operation_id, "to": to, "from": list(sources), "note": note, "options": json.dumps(options or {})}
    return next(iter(run("operation_move", params)), None)


def left() -> list[int]:
    """Operations that should move and that nobody moves."""
    return [row["id"] for row in run("operations_left", {"lease_seconds": LEASE_SECONDS})]


def samples(operation_id: int, since: Any, of: int) -> tuple[int, int]:
    """Of the last `of` released jobs that ended since: (how many ended, how many of them failed)."""
    row = run("operation_samples", {"id": operation_id, "since": since, "of": of, "looked_at": max(1000, 4 * of)})[0]
    return row["ended"], row["failed"]


@dataclass(frozen=True)
class Crew:
    """The slots of live workers; the runs of others than the operation's jobs; its own that run or wait to run."""

    slots: int
    others: int
    ours: int

    @property
    def idle(self) -> int:
        """Slots that nobody else uses."""
        return max(0, self.slots - self.others)


def crew(operation_id: int, silent_seconds: float) -> Crew:
    """Who could run what a redrive releases. Its jobs that wait are counted among those it released last."""
    return Crew(**run("operation_crew", {"id": operation_id, "silent_seconds": silent_seconds})[0])


def live_wait_seconds() -> float:
    """How long the longest-waiting job waits that is no redriven one and is not held by a pause."""
    return float(run("operation_live_wait", {})[0]["seconds"])
