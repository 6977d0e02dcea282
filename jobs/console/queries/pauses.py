"""Pauses: what one would hold, what started in spite of one, and those of the past."""

from dataclasses import dataclass

from jobs.console.queries.counts import STATES
from jobs.console.queries.db import fetch, fetch_one
from jobs.console.queries.rollups import LIVE
from jobs.models.pause import scope_words
from jobs.queue.pauses import PauseInForce
from jobs.rows import Row

MOST = 100
MOST_STARTED = 50
# The counters know no projects: a project's jobs are counted, up to so many.
COUNTED = 10_000


@dataclass(frozen=True)
class Scope:
    """What a pause would hold. `cut`: at least so many are queued."""

    queued: int
    running: int
    retry_wait: int
    cut: bool = False


def scope(type_: str | None, tenant: str | None, project: str | None) -> Scope:
    """What is of this scope now; None means all."""
    row = fetch_one(
        _COUNTED if project else _TALLIED, {"type": type_, "tenant": tenant, "project": project, "most": COUNTED}
    )
    assert row is not None  # noqa: S101  (both are aggregates)
    queued, waits = max(0, int(row["queued"])), max(0, int(row["retry_wait"]))
    return Scope(queued, int(row["running"]), waits, cut=bool(project) and queued > COUNTED)


_RUNNING = f"""(SELECT count(*) FROM "PlatformJob"
          WHERE status IN {LIVE} AND (%(type)s::text IS NULL OR type = %(type)s)
            AND (%(tenant)s::text IS NULL OR "tenantId" = %(tenant)s)
            AND (%(project)s::text IS NULL OR "projectId" = %(project)s)) AS running"""  # noqa: S608  (a constant)
_TALLIED = f"""
SELECT coalesce(sum(n) FILTER (WHERE state = 'QUEUED'), 0)::bigint AS queued,
       coalesce(sum(n) FILTER (WHERE state = 'RETRY_WAIT'), 0)::bigint AS retry_wait, {_RUNNING}
  FROM ({STATES}) c
 WHERE (%(type)s::text IS NULL OR type = %(type)s) AND (%(tenant)s::text IS NULL OR tenant_id = %(tenant)s)
"""  # noqa: S608  (constants)
_OF_PROJECT = """(SELECT count(*) FROM (SELECT 1 FROM "PlatformJob"
          WHERE status = '{}' AND "projectId" = %(project)s AND (%(type)s::text IS NULL OR type = %(type)s)
            AND (%(tenant)s::text IS NULL OR "tenantId" = %(tenant)s) LIMIT %(most)s + 1) x) AS {}"""
_COUNTED = (
    f"SELECT {_OF_PROJECT.format('QUEUED', 'queued')}, {_OF_PROJECT.format('RETRY_WAIT', 'retry_wait')}, {_RUNNING}"
)


def started_after(pauses: list[PauseInForce]) -> list[Row]:
    """Jobs that run although they started after a pause that holds them: another program's, or a fault. Newest first."""
    if not pauses:
        return []
    return fetch(
        f"""SELECT DISTINCT ON (j.started, j.id) j.id, left(j.type, 200) AS type, left(j.tenant, 300) AS tenant_id,
                   left(j.name, 300) AS name, j.started, left(j.worker, 300) AS worker, p.place - 1 AS place
              FROM unnest(%(since)s::timestamptz[], %(type)s::text[], %(tenant)s::text[], %(project)s::text[])
                   WITH ORDINALITY AS p (since, type, tenant, project, place)
              JOIN (SELECT id, type, name, "tenantId" AS tenant, "projectId" AS project, "startedAt" AS started,
                           "workerId" AS worker
                      FROM "PlatformJob" WHERE status IN {LIVE} AND NOT inline OFFSET 0) j
                ON j.started > p.since AND (p.type IS NULL OR p.type = j.type)
               AND (p.tenant IS NULL OR p.tenant = j.tenant) AND (p.project IS NULL OR p.project = j.project)
             ORDER BY j.started DESC, j.id, p.place LIMIT {MOST_STARTED}""",  # noqa: S608
        {
            "since": [pause.since for pause in pauses],
            "type": [pause.type for pause in pauses],
            "tenant": [pause.tenant_id for pause in pauses],
            "project": [pause.project_id for pause in pauses],
        },
    )


def ended() -> list[Row]:
    """The pauses that no longer hold anything, newest first."""
    rows = fetch(
        """SELECT id, left(type, 200) AS type, left(tenant_id, 300) AS tenant_id, left(project_id, 300) AS project_id,
                  left(reason, 1000) AS reason, left(owner, 300) AS owner, created_at, ends_at, lifted_at,
                  left(lifted_by, 300) AS lifted_by, left(lift_reason, 1000) AS lift_reason,
                  coalesce(lifted_at, ends_at) AS ended_at
             FROM queue_pause
            WHERE lifted_at IS NOT NULL OR ends_at <= clock_timestamp()
            ORDER BY coalesce(lifted_at, ends_at) DESC, id DESC LIMIT %(most)s""",
        {"most": MOST},
    )
    for row in rows:
        row["scope"] = scope_words(row["type"], row["tenant_id"], row["project_id"])
    return rows
