"""Operations: the list, one of them, its rows by keyset, and the trash."""

from datetime import datetime

from jobs.console.paging import Cursor, Page, cut
from jobs.console.queries.db import Row, fetch, fetch_one

PAGE = 50
MOST_REASONS = 8

_COLUMNS = """o.id, o.kind, o.state, left(o.actor, 300) AS actor, left(o.reason, 2000) AS reason, o.filter, o.options,
              o.total, o.done, o.skipped, o.failed, o.created_at, o.started_at, o.finished_at, o.heartbeat_at,
              left(o.note, 1000) AS note, clock_timestamp() AS now"""


def newest(before_id: int | None = None, open_only: bool = False) -> list[Row]:
    """Operations, newest first; one more than a page if there are older ones."""
    clause = "true"
    if before_id is not None:
        clause += " AND o.id < %(before)s"
    if open_only:
        clause += " AND o.state IN ('PENDING', 'RUNNING', 'PAUSED', 'BRAKED')"
    return fetch(
        f"SELECT {_COLUMNS} FROM operation o WHERE {clause} ORDER BY o.id DESC LIMIT {PAGE + 1}",  # noqa: S608
        {"before": before_id},
    )


def open_by_state() -> dict[str, int]:
    """How many operations are under way or held."""
    rows = fetch(
        """SELECT state, count(*) AS n FROM operation
            WHERE state IN ('PENDING', 'RUNNING', 'PAUSED', 'BRAKED') GROUP BY 1"""
    )
    return {row["state"]: row["n"] for row in rows}


def find(operation_id: int) -> Row | None:
    """One operation; `lately`: rows decided in the last minute, counted up to 5,000; `in_trash`: what it purged."""
    return fetch_one(
        f"""SELECT {_COLUMNS},
                   (SELECT count(*) FILTER (WHERE i.at > now() - interval '1 minute')
                      FROM (SELECT at FROM operation_item
                             WHERE operation_id = o.id AND outcome IS NOT NULL
                               AND position < coalesce((SELECT min(position) FROM operation_item
                                                         WHERE operation_id = o.id AND outcome IS NULL), 2147483647)
                             ORDER BY position DESC LIMIT 5000) i) AS lately,
                   CASE WHEN o.kind = 'purge'
                        THEN (SELECT count(*) FROM (SELECT 1 FROM job_trash WHERE operation_id = o.id LIMIT 100000) t)
                   END AS in_trash
              FROM operation o WHERE o.id = %(id)s""",  # noqa: S608
        {"id": operation_id},
    )


def reasons(operation_id: int) -> list[Row]:
    """Why rows were skipped or failed, the most frequent first."""
    return fetch(
        f"""SELECT outcome, left(reason, 300) AS reason, count(*) AS n
              FROM operation_item WHERE operation_id = %(id)s AND outcome IN ('skipped', 'failed')
             GROUP BY 1, 2 ORDER BY 3 DESC, 2 LIMIT {MOST_REASONS}""",  # noqa: S608
        {"id": operation_id},
    )


def items(operation_id: int, outcome: str = "", after: int = 0, size: int = PAGE) -> list[Row]:
    """Rows of a set behind a position, with what each job is now; one more than a page if more follow."""
    clause = ""
    if outcome == "open":
        clause = " AND i.outcome IS NULL"
    elif outcome:
        clause = " AND i.outcome = %(outcome)s"
    return fetch(
        f"""SELECT i.*, left(j.name, 300) AS name, left(j.status::text, 100) AS status, j.dlq,
                   left(j.error, 200) AS error
              FROM (SELECT i.position, i.job_id, i.outcome, left(i.reason, 500) AS reason, i.at, i.detail, i.state,
                           left(i.tenant_id, 300) AS tenant_id, left(i.type, 200) AS type
                      FROM operation_item i
                     WHERE i.operation_id = %(id)s AND i.position > %(after)s{clause}
                     ORDER BY i.position LIMIT {size + 1}) i
              LEFT JOIN "PlatformJob" j ON j.id = i.job_id
             ORDER BY i.position""",  # noqa: S608
        {"id": operation_id, "after": after, "outcome": outcome},
    )


def export_rows(operation_id: int, after: int, size: int) -> list[Row]:
    """Rows of a set as text, for a file."""
    return fetch(
        """SELECT position, job_id, tenant_id, type, state, coalesce(outcome, 'not yet') AS outcome, reason, detail,
                  at::text AS at
             FROM operation_item WHERE operation_id = %(id)s AND position > %(after)s
            ORDER BY position LIMIT %(size)s""",
        {"id": operation_id, "after": after, "size": size},
    )


def fared(operation_id: int, of: int = 500) -> tuple[int, int, int]:
    """Of the last released jobs: how many were looked at, ended since, and failed again."""
    row = fetch_one(
        """SELECT count(*) AS n, count(h.to_status) AS ended,
                  count(*) FILTER (WHERE h.to_status IN ('RETRY_WAIT', 'FAILED')) AS failed
             FROM (SELECT job_id, at FROM operation_item WHERE operation_id = %(id)s AND outcome = 'done'
                    ORDER BY position DESC LIMIT %(of)s) i
             LEFT JOIN LATERAL (SELECT h.to_status FROM job_history h
                                 WHERE h.job_id = i.job_id AND h.at >= i.at
                                   AND h.from_status IN ('RUNNING', 'CANCEL_REQUESTED')
                                   AND h.to_status IN ('DONE', 'FAILED', 'CANCELLED', 'RETRY_WAIT')
                                 ORDER BY h.id LIMIT 1) h ON true""",
        {"id": operation_id, "of": of},
    )
    return (row["n"], row["ended"], row["failed"]) if row else (0, 0, 0)


def trash(after: Cursor | None, before: Cursor | None) -> Page:
    """What was purged and can be restored, newest first."""
    cursor, clause, order = before or after, "true", "t.purged_at DESC, t.job_id DESC"
    params: Row = {}
    if cursor:
        clause = f"(t.purged_at, t.job_id) {'>' if before else '<'} (%(at)s::timestamptz, %(id)s)"
        params = {"at": cursor.at, "id": cursor.id}
        order = "t.purged_at, t.job_id" if before else order
    rows = fetch(
        f"""SELECT t.job_id AS id, t.purged_at::text AS cursor_at, t.purged_at, left(t.purged_by, 300) AS purged_by,
                   t.operation_id, left(t.tenant_id, 300) AS tenant_id, left(t.row ->> 'type', 200) AS type,
                   left(t.row ->> 'name', 300) AS name, left(t.row ->> 'status', 100) AS status,
                   coalesce((t.row ->> 'dlq')::boolean, false) AS dlq, left(t.row ->> 'error', 300) AS error
              FROM job_trash t WHERE {clause} ORDER BY {order} LIMIT {PAGE + 1}""",  # noqa: S608
        params,
    )
    return cut(rows, PAGE, after=after, before=before)


def trash_size(most: int = 100_000) -> tuple[int, datetime | None]:
    """How many are in the trash (counted up to `most`), and when the oldest was purged."""
    row = fetch_one(
        """SELECT (SELECT count(*) FROM (SELECT 1 FROM job_trash LIMIT %(most)s) t) AS n,
                  (SELECT min(purged_at) FROM job_trash) AS oldest""",
        {"most": most},
    )
    return (row["n"], row["oldest"]) if row else (0, None)
