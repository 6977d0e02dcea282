"""What a bulk action would do: how many, split how, which are the oldest and newest, a few at random. Bounded: counting
stops at a limit of rows and time, and is no condition for acting."""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from jobs.console import scope
from jobs.console.forecast import Forecast
from jobs.console.queries import counts
from jobs.console.queries.db import Row, TooSlow, fetch, fetch_one, limited
from jobs.console.queries.overview import drain
from jobs.queue.operations import Selection

MOST_COUNTED = 100_000
# When counting all of them took too long, so many are looked at.
FEW = 2_000
PART_SECONDS = 2.0
SPLIT = 6
SAMPLES = 8

_JOBS = """
    SELECT j.id, j."tenantId" AS tenant_id, j.type, detiq_state(j.status::text, j.dlq) AS state, j.fingerprint,
           j."redriveCount" AS redrives, coalesce(j."dlqAt", j."queuedAt")::timestamptz AS since,
           j.checkpoint IS NOT NULL AS kept,
           j."uniqueKey" IS NOT NULL AND EXISTS (
               SELECT 1 FROM "PlatformJob" o
                WHERE o."uniqueKey" = j."uniqueKey" AND o.id <> j.id
                  AND o.status IN ('QUEUED', 'RUNNING', 'RETRY_WAIT', 'CANCEL_REQUESTED')) AS held
      FROM "PlatformJob" j WHERE {condition}"""
_TRASH = """
    SELECT j.job_id AS id, j.tenant_id, coalesce(j.row ->> 'type', '') AS type,
           detiq_state(j.row ->> 'status', coalesce((j.row ->> 'dlq')::boolean, false)) AS state,
           j.row ->> 'fingerprint' AS fingerprint, 0 AS redrives, j.purged_at AS since, false AS kept,
           EXISTS (SELECT 1 FROM "PlatformJob" o WHERE o.id = j.job_id) AS held
      FROM job_trash j WHERE {condition}"""

_PREVIEW = """
WITH s AS MATERIALIZED ({source} LIMIT %(most)s)
SELECT json_build_object(
    'n', (SELECT count(*) FROM s),
    'came_back', (SELECT count(*) FROM s WHERE redrives > 0),
    'held', (SELECT count(*) FROM s WHERE held),
    'held_and_back', (SELECT count(*) FROM s WHERE held AND redrives > 0),
    'kept', (SELECT count(*) FROM s WHERE kept),
    'tenants', (SELECT count(DISTINCT tenant_id) FROM s),
    'states', (SELECT json_object_agg(state, n) FROM (SELECT state, count(*) AS n FROM s GROUP BY 1) x),
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
)::text AS found
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
    """`n` rows match; `whole` false: at least so many. `known` false: nothing could be read in time."""

    n: int = 0
    whole: bool = True
    known: bool = True
    came_back: int = 0
    held: int = 0
    held_and_back: int = 0
    kept: int = 0
    tenants: int = 0
    states: dict[str, int] = field(default_factory=dict)
    by_tenant: list[Row] = field(default_factory=list)
    by_type: list[Row] = field(default_factory=list)
    by_group: list[Row] = field(default_factory=list)
    oldest: Row | None = None
    newest: Row | None = None
    sample: list[Row] = field(default_factory=list)


def preview(selection: Selection) -> Preview:
    """What matches now."""
    for most in (MOST_COUNTED, FEW):
        try:
            with limited(PART_SECONDS):
                return _read(selection, most)
        except TooSlow:
            continue
    return Preview(whole=False, known=False)


def _read(selection: Selection, most: int) -> Preview:
    source = (_TRASH if selection.trash else _JOBS).format(condition=selection.condition)
    row = fetch_one(
        _PREVIEW.format(source=source, sample=_SAMPLE_OF_SOME if scope.limited() else "g.sample"),
        selection.params | scope.params() | {"most": most + 1, "split": SPLIT, "samples": SAMPLES},
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
        whole=number <= most,
        oldest=shown[0] if shown else None,
        newest=shown[1] if shown else None,
        sample=[one for one in shown[2:] if one],
        **{name: value or type(getattr(Preview(), name))() for name, value in found.items()},
    )


@dataclass(frozen=True)
class Drain:
    """What is queued now, and when it is empty: as it is, and with what would be added."""

    queued: int
    now: Forecast
    then: Forecast
    per_minute: float

    @property
    def same(self) -> bool:
        """Is nothing foretold, so that one word says both?"""
        return self.now.earliest is None and self.then.earliest is None and self.now.outlook == self.then.outlook


def drain_with(added: int, now: datetime) -> Drain | None:
    """At the pace of the last minutes; None when that cannot be read in time, or is known of all tenants alone."""
    if scope.limited():
        return None
    try:
        with limited(PART_SECONDS):
            queued = max(0, counts.by_state().get("QUEUED", 0))
            since = now.replace(second=0, microsecond=0) - timedelta(minutes=drain.MINUTES - 1)
            minutes = drain.minute_lines(drain.flow(since), since)
    except TooSlow:
        return None
    whole = [one for one in minutes if one.at < now.replace(second=0, microsecond=0)][-drain.FORECAST_MINUTES :]
    ends = sum(one.left for one in whole) / len(whole) if whole else 0.0
    return Drain(
        queued,
        drain.overall(queued, minutes, now, held=False),
        drain.overall(queued + added, minutes, now, held=False),
        ends,
    )
