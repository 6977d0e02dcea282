"""The jobs list: one page of named columns by keyset, and counts that know how sure they are."""

from collections import Counter
from dataclasses import dataclass, replace

from jobs.console import scope
from jobs.console.filters import LISTED, SHORTEST_INDEXED, JobFilter, where
from jobs.console.paging import Cursor, Page, cut
from jobs.console.queries import counts
from jobs.console.queries.db import TooSlow, fetch, fetch_one, limited, planned
from jobs.domain.states import state
from jobs.queue.waiting import Lane
from jobs.rows import Row

PAGE = 50
# Counting stops here where the counters cannot answer.
MOST_COUNTED = 10_000
# And here where each row's error must be read.
MOST_READ = 2_000
COUNT_SECONDS = 0.25
SOME_SECONDS = 0.1
# Up to so many jobs with a text in their error are put in order; more are found faster by walking the list.
MOST_PICKED = 5_000
# Text that stands in a page's worth of so many jobs with an error is frequent: then the list is walked.
NEAREST = 5_000
# So many waiting jobs of a filter, in so many lanes, are asked why they wait.
MOST_WAITING = 100_000
MOST_LANES = 20_000
# The list of somebody limited to some tenants is merged from each tenant's own, if they are not too many.
MOST_PARTS = 60

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
    with limited():
        if _has_indexed_text(filter_):
            found = _rows_with_frequent_text(filter_, after, before, size)
            if found is not None:
                return replace(cut(found, size, after=after, before=before), dense=True)
            found = _rows_with_rare_text(filter_, after, before, size)
            if found is not None:
                return cut(found, size, after=after, before=before)
        # Few matches are expected where a filter is odd; then the planner would rather read the whole table and sort.
        with planned(seqscan=False):
            rows = _walk(filter_, after, before, size)
        return cut(rows, size, after=after, before=before)


def _walk(filter_: JobFilter, after: Cursor | None, before: Cursor | None, size: int) -> list[Row]:
    """Along the index that has the list's order. Each state has its own part of it, so several states are merged."""
    place, params = _place(after, before)
    order = _order(before)
    parts = []
    for number, one in enumerate(_one_by_one(filter_)):
        clause, more = where(one, prefix=f"p{number}_")
        params |= more
        parts.append(f'(SELECT {COLUMNS} FROM "PlatformJob" j WHERE {clause}{place} ORDER BY {order} LIMIT {size + 1})')  # noqa: S608
    if len(parts) == 1:
        return fetch(parts[0], params)
    merged = " UNION ALL ".join(parts)
    order = "queued_at, id" if before else "queued_at DESC, id DESC"
    return fetch(f"SELECT * FROM ({merged}) m ORDER BY {order} LIMIT {size + 1}", params)  # noqa: S608


def _one_by_one(filter_: JobFilter) -> list[JobFilter]:
    by_state = [filter_.with_states(state) for state in filter_.states] or [filter_]
    tenants = sorted(filter_.within or ())
    if "tenant" in filter_.texts or not tenants or len(tenants) * len(by_state) > MOST_PARTS:
        return by_state
    return [one.with_text("tenant", tenant) for one in by_state for tenant in tenants]


def _place(after: Cursor | None, before: Cursor | None) -> tuple[str, Row]:
    cursor = before or after
    if cursor is None:
        return "", {}
    sign = ">" if before else "<"
    return f' AND (j."queuedAt", j.id) {sign} (%(at)s::timestamptz, %(id)s)', {"at": cursor.at, "id": cursor.id}


def _order(before: Cursor | None) -> str:
    return 'j."queuedAt", j.id' if before else 'j."queuedAt" DESC, j.id DESC'


def _has_indexed_text(filter_: JobFilter) -> bool:
    """May the index on errors find it? It knows no shorter pieces than three characters."""
    return len(filter_.texts.get("error", "")) >= SHORTEST_INDEXED and text_is_indexed()


def text_is_indexed() -> bool:
    """Is the index on the text of errors there? Not where the role that migrates may not add pg_trgm."""
    row = fetch_one("SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('job_error_text')")
    return bool(row and row["valid"])


def searchable(filter_: JobFilter) -> JobFilter:
    """The filter itself, or its last 24 h if it looks for text in errors that no index can find."""
    if "error" not in filter_.texts or filter_.age in {"15m", "1h", "24h"} or text_is_indexed():
        return filter_
    return replace(filter_, age="24h")


def _rows_with_frequent_text(
    filter_: JobFilter, after: Cursor | None, before: Cursor | None, size: int
) -> list[Row] | None:
    """Reads the nearest jobs with an error; None when the text is not frequent among them.

    The index on text would first find every job that has it.
    """
    clause, params = where(filter_)
    place, more = _place(after, before)
    order = _order(before)
    with planned(seqscan=False):
        found = fetch(
            f"""SELECT {COLUMNS} FROM (SELECT * FROM "PlatformJob" j WHERE {_IN_ERROR}{place}
                                        ORDER BY {order} LIMIT {NEAREST}) j
                 WHERE {clause} ORDER BY {order} LIMIT {size + 1}""",  # noqa: S608
            params | more,
        )
    return found if len(found) > size else None


# As the index of the jobs with an error, newest first, has it.
_IN_ERROR = "j.error IS NOT NULL"


def _rows_with_rare_text(
    filter_: JobFilter, after: Cursor | None, before: Cursor | None, size: int
) -> list[Row] | None:
    """Finds all that have the text, then puts them in order; None when they are many, so that walking is faster.

    Left to itself the planner walks by date whatever the text, through millions of rows if it is rare.
    """
    clause, params = where(filter_)
    place, more = _place(after, before)
    with planned(seqscan=False, indexscan=False):
        found = fetch_one(
            f"""WITH picked AS MATERIALIZED (
                    SELECT j.id, j."queuedAt" FROM "PlatformJob" j WHERE {clause} LIMIT {MOST_PICKED + 1}
                )
                SELECT (SELECT count(*) FROM picked) AS n,
                       ARRAY(SELECT j.id FROM picked j WHERE true{place}
                              ORDER BY {_order(before)} LIMIT {size + 1}) AS ids""",  # noqa: S608
            params | more,
        )
    if found is None or found["n"] > MOST_PICKED:
        return None
    return fetch(
        f'SELECT {COLUMNS} FROM "PlatformJob" j WHERE j.id = ANY (%(ids)s) ORDER BY {_order(before)}',  # noqa: S608
        {"ids": found["ids"]},
    )


@dataclass(frozen=True)
class Counts:
    """Jobs by state under a filter (its states aside). `complete` false: counting stopped at `most`.

    `about`: what the planner's statistics say of the whole filter, where counting did not answer.
    """

    states: dict[str, int]
    complete: bool
    known: bool = True
    about: int | None = None
    most: int = MOST_COUNTED

    @property
    def total(self) -> int:
        return sum(self.states.values())

    def of(self, states: tuple[str, ...]) -> int:
        """The count of these states, of all if none is named."""
        return sum(self.states.get(one, 0) for one in states) if states else self.total


def count(filter_: JobFilter, page: Page | None = None) -> Counts:
    """Counts by state: exact from the counters, else by counting up to a limit of rows and time.

    A first page that is the whole list is its own count.
    """
    if page is not None and page.whole and not filter_.states and not filter_.counted_by_tallies:
        return Counts(dict(Counter(state(row["status"], row["dlq"]) for row in page.rows)), complete=True)
    try:
        with limited(COUNT_SECONDS):
            if filter_.counted_by_tallies:
                states = counts.by_state(filter_.texts.get("type", ""), filter_.texts.get("tenant", ""))
                return Counts(states, complete=True)
            found = _count_rows(filter_, page is not None and page.dense)
    except TooSlow:
        found = Counts({}, complete=False, known=False)
    return found if found.complete else replace(found, about=_about(filter_))


def _count_rows(filter_: JobFilter, dense: bool) -> Counts:
    clause, params = where(filter_, states=False)
    most = MOST_READ if dense else MOST_COUNTED
    if dense:
        clause += f" AND {_IN_ERROR}"
        methods, order = {"seqscan": False, "bitmapscan": False}, f"ORDER BY {_order(None)}"
    elif _has_indexed_text(filter_):
        methods, order = {"seqscan": False, "indexscan": False}, ""
    else:  # along an index, as the list itself is read: never the table from end to end
        methods, order = {"seqscan": False}, f"ORDER BY {_order(None)}"
    with planned(**methods):
        rows = fetch(
            f"""SELECT left(state, 100) AS state, count(*) AS n
                  FROM (SELECT detiq_state(j.status::text, j.dlq) AS state
                          FROM "PlatformJob" j WHERE {clause} {order} LIMIT {most}) c
                 GROUP BY 1""",  # noqa: S608
            params,
        )
    states = {row["state"]: row["n"] for row in rows}
    return Counts(states, complete=sum(states.values()) < most, most=most)


def some(filter_: JobFilter, most: int = 1_000) -> int | None:
    """How many match, counted no further than `most`; None if even that takes too long."""
    clause, params = where(filter_)
    try:
        with limited(SOME_SECONDS), planned(seqscan=False):
            row = fetch_one(
                f"""SELECT count(*) AS n FROM (SELECT 1 FROM "PlatformJob" j WHERE {clause}
                                                ORDER BY {_order(None)} LIMIT {most}) c""",  # noqa: S608
                params,
            )
    except TooSlow:
        return None
    return row["n"] if row else None


def _about(filter_: JobFilter) -> int:
    clause, params = where(filter_)
    plan = fetch(f'EXPLAIN (FORMAT JSON) SELECT 1 FROM "PlatformJob" j WHERE {clause}', params)  # noqa: S608
    rows: int = plan[0]["QUERY PLAN"][0]["Plan"]["Plan Rows"]
    return rows


@dataclass(frozen=True)
class Lanes:
    """The queued jobs of a filter by lane. `complete` false: more wait than were looked at."""

    lanes: list[Lane]
    complete: bool


def lanes(filter_: JobFilter, by_project: bool) -> Lanes:
    """What waits under a filter, whatever its states; projects are told apart only if asked. Raises `TooSlow`."""
    queued = filter_.with_states("QUEUED")
    with limited(), planned(seqscan=False):
        found = (
            _counted_lanes(queued) if filter_.counted_by_tallies and not by_project else _read_lanes(queued, by_project)
        )
    shown = [
        Lane(row["type"], row["tenant_id"], row["project_id"], row["n"], row["later"]) for row in found[:MOST_LANES]
    ]
    total = sum(row["n"] for row in found)
    return Lanes(shown, len(found) <= MOST_LANES and (filter_.counted_by_tallies or total <= MOST_WAITING))


def _counted_lanes(filter_: JobFilter) -> list[Row]:
    """By the counters; only the jobs that are queued for later are read, from an index that holds no others."""
    clause, params = where(filter_)
    return fetch(
        f"""WITH later AS MATERIALIZED (
                SELECT l.type, l.tenant_id, count(*) AS n
                  FROM (SELECT j.type, j."tenantId" AS tenant_id FROM "PlatformJob" j
                         WHERE {clause} AND j."nextRetryAt" > statement_timestamp() LIMIT {MOST_WAITING}) l
                 GROUP BY 1, 2
            )
            SELECT c.type, c.tenant_id, NULL AS project_id, c.n, least(coalesce(l.n, 0), c.n)::bigint AS later
              FROM (SELECT type, tenant_id, sum(n)::bigint AS n FROM ({counts.STATES}) s
                     WHERE state = 'QUEUED' AND (%(for_type)s = '' OR type = %(for_type)s)
                       AND (%(for_tenant)s = '' OR tenant_id = %(for_tenant)s) AND {scope.only("tenant_id")}
                     GROUP BY 1, 2 HAVING sum(n) > 0) c
              LEFT JOIN later l USING (type, tenant_id)
             ORDER BY c.n DESC LIMIT {MOST_LANES + 1}""",  # noqa: S608
        params
        | {"for_type": filter_.texts.get("type", ""), "for_tenant": filter_.texts.get("tenant", "")}
        | scope.params(),
    )


def _read_lanes(filter_: JobFilter, by_project: bool) -> list[Row]:
    clause, params = where(filter_)
    project = 'j."projectId"' if by_project else "NULL::text"
    return fetch(
        f"""SELECT w.type, w.tenant_id, w.project_id, count(*) AS n, count(*) FILTER (WHERE w.later) AS later
              FROM (SELECT j.type, j."tenantId" AS tenant_id, {project} AS project_id,
                           coalesce(j."nextRetryAt" > statement_timestamp(), false) AS later
                      FROM "PlatformJob" j WHERE {clause} LIMIT {MOST_WAITING + 1}) w
             GROUP BY 1, 2, 3 ORDER BY n DESC LIMIT {MOST_LANES + 1}""",  # noqa: S608
        params,
    )


def find(text: str) -> Row | None:
    """What a word from the search field names exactly: a job's id, else a tenant, else a type."""
    seen = scope.only('"tenantId"')
    return fetch_one(
        f"""SELECT 'id' AS kind FROM "PlatformJob" j WHERE j.id = %(text)s AND {seen}
           UNION ALL
           (SELECT 'tenant' FROM "PlatformJob" j WHERE {LISTED} AND "tenantId" = %(text)s AND {seen} LIMIT 1)
           UNION ALL
           (SELECT 'type' FROM "PlatformJob" j WHERE {LISTED} AND type = %(text)s AND {seen} LIMIT 1)
           LIMIT 1""",  # noqa: S608
        {"text": text} | scope.params(),
    )
