"""What a bulk action would do: how many, split how, which are the oldest and newest, a few at random. Bounded: counting
stops at a limit of rows and time, and is no condition for acting."""

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import fmean, variance
from typing import Any

from jobs.console import scope
from jobs.console.forecast import FEWEST, WIDE, Forecast
from jobs.console.queries import counts
from jobs.console.queries.db import TooSlow, fetch, fetch_one, limited
from jobs.console.queries.overview import drain
from jobs.domain.bulk import ID_TAKEN, KEY_HELD, Kind, Options
from jobs.queue import operations
from jobs.queue.operations import Selection
from jobs.rows import Row

MOST_COUNTED = 100_000
PART_SECONDS = 2.0
# So many are looked at; fewer when that took longer than so many seconds.
LOOKS = ((MOST_COUNTED, PART_SECONDS), (10_000, 1.0), (2_000, PART_SECONDS))
SPLIT = 6
SAMPLES = 8
# Of so many tenants it is known how much each would add.
MOST_TENANTS = 2_000
# Of so many others it is foretold how long they would wait.
MOST_OTHERS = 3
# A reason that begins so names the state.
STATE = "state:"

# More columns of each row; `held`: something is in the way of its return.
_OF_JOBS = """,
           j.fingerprint, j."uniqueKey" AS unique_key, j.progress, j."checkpointAt"::timestamptz AS kept_at,
           j."uniqueKey" IS NOT NULL AND EXISTS (
               SELECT 1 FROM "PlatformJob" o
                WHERE o."uniqueKey" = j."uniqueKey" AND o.id <> j.id
                  AND o.status IN ('QUEUED', 'RUNNING', 'RETRY_WAIT', 'CANCEL_REQUESTED')) AS held"""
_OF_TRASH = """,
           j.row ->> 'fingerprint' AS fingerprint, NULL AS unique_key, 0 AS progress, NULL::timestamptz AS kept_at,
           EXISTS (SELECT 1 FROM "PlatformJob" o WHERE o.id = j.job_id) AS held"""
# Of several dead letters with one unique key only one goes.
_NTH = """CASE WHEN unique_key IS NULL THEN 1 ELSE
                      row_number() OVER (PARTITION BY unique_key, left_out IS NULL AND state = ANY (%(states)s)
                                             ORDER BY id) END"""

_PREVIEW = """
WITH chosen AS MATERIALIZED ({source} LIMIT %(most)s
), {judged}, s AS MATERIALIZED (
    SELECT j.*,
           CASE WHEN left_out IS NOT NULL THEN left_out
                WHEN %(any_state)s IS FALSE AND NOT state = ANY (%(states)s) THEN %(state_prefix)s || state
                WHEN held AND %(held_why)s::text IS NOT NULL OR {nth} > 1 THEN %(held_why)s
           END AS why
      FROM judged j
)
SELECT json_build_object(
    'n', (SELECT count(*) FROM s),
    'why', (SELECT json_object_agg(why, n) FROM (SELECT why, count(*) AS n FROM s WHERE why IS NOT NULL GROUP BY 1) x),
    'came_back', (SELECT count(*) FROM s WHERE redrives > 0 AND why IS NULL),
    'kept', (SELECT count(*) FROM s WHERE kept AND why IS NULL),
    'saved_percent', (SELECT round(avg(least(100, greatest(0, progress))))::integer FROM s WHERE kept AND why IS NULL),
    'added', (SELECT json_object_agg(tenant_id, n) FROM (
        SELECT tenant_id, count(*) AS n FROM s WHERE why IS NULL GROUP BY 1 ORDER BY 2 DESC LIMIT %(most_tenants)s) x),
    'tenants', (SELECT count(DISTINCT tenant_id) FROM s),
    'by_tenant', (SELECT json_agg(x) FROM (SELECT left(tenant_id, 300) AS key, count(*) AS n FROM s
                                            GROUP BY tenant_id ORDER BY 2 DESC, 1 LIMIT %(split)s) x),
    'by_type', (SELECT json_agg(x) FROM (SELECT left(type, 200) AS key, count(*) AS n FROM s
                                          GROUP BY type ORDER BY 2 DESC, 1 LIMIT %(split)s) x),
    'by_group', (SELECT json_agg(x) FROM (
        SELECT c.fingerprint AS key, c.n, left({sample}, 200) AS sample
          FROM (SELECT fingerprint, count(*) AS n FROM s WHERE fingerprint IS NOT NULL
                 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %(split)s) c
          LEFT JOIN failure_group g USING (fingerprint) ORDER BY c.n DESC, c.fingerprint) x),
    'oldest', (SELECT id FROM s ORDER BY since, id LIMIT 1),
    'newest', (SELECT id FROM s ORDER BY since DESC, id DESC LIMIT 1),
    'sample', (SELECT json_agg(id) FROM (SELECT id FROM s ORDER BY random() LIMIT %(samples)s) x)
)::text AS found,
    (SELECT min(kept_at) FROM s WHERE kept AND why IS NULL) AS kept_since
"""

# A group's own sample may be any tenant's.
_SAMPLE_OF_SOME = """(SELECT j.error FROM "PlatformJob" j
                      WHERE j.id = (SELECT min(s.id) FROM s WHERE s.fingerprint = c.fingerprint)
                        AND j."tenantId" = ANY (%(within)s))"""

_LINES = """
    SELECT j.id, left(j."tenantId", 300) AS tenant_id, left(j.type, 200) AS type, left(j.name, 300) AS name,
           left(j.status::text, 100) AS status, j.dlq, left(j.error, 300) AS error,
           coalesce(j."dlqAt", j."queuedAt")::timestamptz AS since
      FROM "PlatformJob" j WHERE j.id = ANY (%(ids)s)"""
_TRASH_LINES = """
    SELECT j.job_id AS id, left(j.tenant_id, 300) AS tenant_id, left(j.row ->> 'type', 200) AS type,
           left(j.row ->> 'name', 300) AS name, left(j.row ->> 'status', 100) AS status,
           coalesce((j.row ->> 'dlq')::boolean, false) AS dlq, left(j.row ->> 'error', 300) AS error, j.purged_at AS since
      FROM job_trash j WHERE j.job_id = ANY (%(ids)s)"""


@dataclass(frozen=True)
class Preview:
    """`n` rows match; `whole` false: at least so many. `known` false: nothing could be read in time.

    `why`: how many would be left, by the reason that their outcome would have. Of those that would be touched: `came_back`
    from an earlier redrive, `kept` a checkpoint, at `saved_percent` on average, the oldest of `kept_since`; `added` by
    tenant.
    """

    n: int = 0
    whole: bool = True
    known: bool = True
    why: dict[str, int] = field(default_factory=dict)
    came_back: int = 0
    kept: int = 0
    saved_percent: int = 0
    kept_since: datetime | None = None
    tenants: int = 0
    added: dict[str, int] = field(default_factory=dict)
    by_tenant: list[Row] = field(default_factory=list)
    by_type: list[Row] = field(default_factory=list)
    by_group: list[Row] = field(default_factory=list)
    oldest: Row | None = None
    newest: Row | None = None
    sample: list[Row] = field(default_factory=list)

    @property
    def acts(self) -> int:
        """How many would be touched."""
        return max(0, self.n - sum(self.why.values()))


def preview(kind: Kind, selection: Selection, options: Options, states: Collection[str]) -> Preview:
    """What would become of what matches now. `states`: those that are touched; of the trash all are."""
    for most, seconds in LOOKS:
        try:
            with limited(seconds):
                return _read(kind, selection, options, states, most)
        except TooSlow:
            continue
    return Preview(whole=False, known=False)


_HELD = {Kind.RETRY: KEY_HELD, Kind.RESTORE: ID_TAKEN}


def _read(kind: Kind, selection: Selection, options: Options, states: Collection[str], most: int) -> Preview:
    params = {
        "most": most + 1, "split": SPLIT, "samples": SAMPLES, "most_tenants": MOST_TENANTS, "states": sorted(states),
        "any_state": selection.trash, "state_prefix": STATE, "held_why": _HELD.get(kind),
    }  # fmt: skip
    source = operations.source(selection, _OF_TRASH if selection.trash else _OF_JOBS)
    row = fetch_one(
        _PREVIEW.format(
            source=source,
            judged=operations.JUDGED,
            nth=_NTH if kind is Kind.RETRY else "1",
            sample=_SAMPLE_OF_SOME if scope.limited() else "g.sample",
        ),
        selection.params | scope.params() | operations.judging(kind, options) | params,
    )
    found: dict[str, Any] = json.loads(row["found"]) if row else {}
    ids = [one for one in (found.pop("oldest"), found.pop("newest"), *(found.pop("sample") or [])) if one is not None]
    lines = (
        {line["id"]: line for line in fetch(_TRASH_LINES if selection.trash else _LINES, {"ids": ids})} if ids else {}
    )
    shown = [lines.get(one) for one in ids]
    number = found.pop("n")
    return Preview(
        n=min(number, most),
        kept_since=row["kept_since"] if row else None,
        whole=number <= most,
        oldest=shown[0] if shown else None,
        newest=shown[1] if shown else None,
        sample=[one for one in shown[2:] if one],
        **{name: value or type(getattr(Preview(), name))() for name, value in found.items()},
    )


@dataclass(frozen=True)
class Wait:
    """How long the last job of a tenant that adds nothing waits, in minutes: as it is, and with what would be added."""

    tenant_id: str
    now: tuple[float, float]
    then: tuple[float, float]


@dataclass(frozen=True)
class Drain:
    """What is queued now, and when it is empty: as it is, and with what would be added."""

    queued: int
    now: Forecast
    then: Forecast
    per_minute: float
    others: list[Wait] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Is nothing foretold, so that one word says both?"""
        return self.now.earliest is None and self.then.earliest is None and self.now.outlook == self.then.outlook


def drain_with(added: Mapping[str, int], total: int, now: datetime) -> Drain | None:
    """At the pace of the last minutes; None when that cannot be read in time, or is known of all tenants alone.

    `added` by tenant, as far as that is known; `total` of all.
    """
    if scope.limited():
        return None
    try:
        with limited(PART_SECONDS):
            queued = max(0, counts.by_state().get("QUEUED", 0))
            since = now.replace(second=0, microsecond=0) - timedelta(minutes=drain.MINUTES - 1)
            minutes = drain.minute_lines(drain.flow(since), since)
            others = _others(list(added))
    except TooSlow:
        return None
    whole = [one for one in minutes if one.at < now.replace(second=0, microsecond=0)][-drain.FORECAST_MINUTES :]
    left = [one.left for one in whole]
    return Drain(
        queued,
        drain.overall(queued, minutes, now, held=False),
        drain.overall(queued + total, minutes, now, held=False),
        fmean(left) if left else 0.0,
        waits(others, added, left),
    )


_OTHERS = f"""
WITH q AS MATERIALIZED (
    SELECT tenant_id, sum(n)::bigint AS n FROM ({counts.STATES}) c WHERE state = 'QUEUED' GROUP BY 1 HAVING sum(n) > 0
), other AS (
    SELECT * FROM q WHERE tenant_id <> ALL (%(added)s) ORDER BY n DESC, tenant_id LIMIT {MOST_OTHERS}
)
SELECT left(o.tenant_id, 300) AS tenant_id, o.n, (SELECT sum(least(q.n, o.n)) FROM q)::bigint AS ahead
  FROM other o ORDER BY o.n DESC, o.tenant_id
"""  # noqa: S608


def _others(added: list[str]) -> list[Row]:
    """Tenants that wait and add nothing: how many of theirs wait, how many start until the last of them does."""
    return fetch(_OTHERS, {"added": added})


def waits(others: list[Row], added: Mapping[str, int], left: list[int]) -> list[Wait]:
    """Tenants take turns: until the last of a tenant's n jobs has started, of every other tenant's n at most have, too."""
    if len(left) < 2 or sum(left) < FEWEST:
        return []
    pace, unsure = fmean(left), WIDE * math.sqrt(max(variance(left), fmean(left)) / len(left))
    found = []
    for one in others:
        more = sum(min(number, one["n"]) for number in added.values())
        now, then = (_minutes(ahead, pace, unsure) for ahead in (one["ahead"], one["ahead"] + more))
        found.append(Wait(one["tenant_id"], now, then))
    return found


def _minutes(ahead: int, pace: float, unsure: float) -> tuple[float, float]:
    return ahead / (pace + unsure), ahead / max(pace - unsure, pace / 10)
