"""The jobs list: one page of named columns by keyset, and counts that know how sure they are."""

from dataclasses import dataclass

from jobs.console.filters import JobFilter, where
from jobs.console.paging import Cursor, Page, cut
from jobs.console.queries import counts
from jobs.console.queries.db import Row, TooSlow, fetch, fetch_one, limited

PAGE = 50
# Counting stops here where the counters cannot answer.
MOST_COUNTED = 10_000
COUNT_SECONDS = 1.0

# No config, result or checkpoint: they may be megabytes, and no list shows them.
COLUMNS = """
    j.id, j."queuedAt"::timestamptz::text AS cursor_at,
    left(j."tenantId", 300) AS tenant_id, left(j."projectId", 300) AS project_id,
    left(j.type, 200) AS type, left(j.name, 300) AS name, left(j.status::text, 100) AS status, j.dlq, j.priority,
    left(j.error, 300) AS error, left(j."dlqReason", 300) AS dlq_reason, j.progress,
    left(j."currentStep", 200) AS current_step,
    j."queuedAt" AS queued_at, j."requeuedAt" AS requeued_at, j."startedAt" AS started_at,
    j."finishedAt" AS finished_at, j."heartbeatAt" AS heartbeat_at, left(j."workerId", 200) AS worker_id,
    j."retryCount" AS retry_count, j."nextRetryAt" AS next_retry_at, left(j."failureType"::text, 100) AS failure_type,
    j.inline, j.fingerprint, j."dlqAt" AS dlq_at
"""


def page(filter_: JobFilter, after: Cursor | None, before: Cursor | None, size: int = PAGE) -> Page:
    """One page, newest first. Raises `TooSlow`."""
    clause, params = where(filter_)
    order = 'j."queuedAt" DESC, j.id DESC'
    if before:
        clause += ' AND (j."queuedAt", j.id) > (%(at)s::timestamptz, %(id)s)'
        params |= {"at": before.at, "id": before.id}
        order = 'j."queuedAt", j.id'
    elif after:
        clause += ' AND (j."queuedAt", j.id) < (%(at)s::timestamptz, %(id)s)'
        params |= {"at": after.at, "id": after.id}
    sql = f'SELECT {COLUMNS} FROM "PlatformJob" j WHERE {clause} ORDER BY {order} LIMIT {size + 1}'  # noqa: S608
    with limited():
        return cut(fetch(sql, params), size, after=after, before=before)


@dataclass(frozen=True)
class Counts:
    """Jobs by state under a filter (its states aside). `complete` false: counting stopped at `MOST_COUNTED`."""

    states: dict[str, int]
    complete: bool
    known: bool = True

    @property
    def total(self) -> int:
        return sum(self.states.values())

    def of(self, states: tuple[str, ...]) -> int:
        """The count of these states, of all if none is named."""
        return sum(self.states.get(one, 0) for one in states) if states else self.total


def count(filter_: JobFilter) -> Counts:
    """Counts by state: exact from the counters, else by counting up to a limit of rows and time."""
    try:
        with limited(COUNT_SECONDS):
            if filter_.counted_by_tallies:
                states = counts.by_state(filter_.texts.get("type", ""), filter_.texts.get("tenant", ""))
                return Counts(states, complete=True)
            return _count_rows(filter_)
    except TooSlow:
        return Counts({}, complete=False, known=False)


def _count_rows(filter_: JobFilter) -> Counts:
    clause, params = where(filter_, states=False)
    rows = fetch(
        f"""SELECT left(state, 100) AS state, count(*) AS n
              FROM (SELECT detiq_state(j.status::text, j.dlq) AS state
                      FROM "PlatformJob" j WHERE {clause} LIMIT {MOST_COUNTED}) c
             GROUP BY 1""",  # noqa: S608
        params,
    )
    states = {row["state"]: row["n"] for row in rows}
    return Counts(states, complete=sum(states.values()) < MOST_COUNTED)


def find(text: str) -> Row | None:
    """What a word from the search field names exactly: a job's id, else a tenant, else a type."""
    return fetch_one(
        """SELECT 'id' AS kind FROM "PlatformJob" WHERE id = %(text)s
           UNION ALL
           (SELECT 'tenant' FROM "PlatformJob" WHERE "tenantId" = %(text)s LIMIT 1)
           UNION ALL
           (SELECT 'type' FROM "PlatformJob" WHERE type = %(text)s LIMIT 1)
           LIMIT 1""",
        {"text": text},
    )
