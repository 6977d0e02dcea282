"""Operations: the list, one of them, its rows by keyset, and the trash.

Somebody limited to some tenants sees the operations that touch jobs of theirs, with those rows and their numbers alone.
Of one that touches others too (`whole` false) what was written about all of it is left out: its reason, its filter, why it
stopped.
"""

from datetime import datetime

from jobs.console import scope
from jobs.console.paging import Cursor, Page, cut
from jobs.console.queries.db import fetch, fetch_one
from jobs.rows import Row

PAGE = 50
MOST_REASONS = 8
UNSAID = "it touches other tenants, too"

_COLUMNS = """o.id, o.kind, o.state, left(o.actor, 300) AS actor, left(o.reason, 2000) AS reason, o.filter, o.options,
              o.total, o.done, o.skipped, o.failed, o.created_at, o.started_at, o.finished_at, o.heartbeat_at,
              left(o.note, 1000) AS note, clock_timestamp() AS now, true AS whole"""
_COLUMNS_OF_SOME = """
              o.id, o.kind, o.state, left(o.actor, 300) AS actor,
              CASE WHEN n.total = o.total THEN left(o.reason, 2000) ELSE %(unsaid)s END AS reason,
              CASE WHEN n.total = o.total THEN o.filter ELSE '{}' END AS filter, o.options, n.total, n.done, n.skipped,
              n.failed, o.created_at, o.started_at, o.finished_at, o.heartbeat_at,
              CASE WHEN n.total = o.total THEN left(o.note, 1000) ELSE '' END AS note, clock_timestamp() AS now,
              n.total = o.total AS whole"""
_OF_SOME = """operation o CROSS JOIN LATERAL (
              SELECT count(*)::integer AS total, count(*) FILTER (WHERE i.outcome = 'done')::integer AS done,
                     count(*) FILTER (WHERE i.outcome = 'skipped')::integer AS skipped,
                     count(*) FILTER (WHERE i.outcome = 'failed')::integer AS failed
                FROM operation_item i WHERE i.operation_id = o.id AND i.tenant_id = ANY (%(within)s)) n"""


def _seen() -> tuple[str, str, str, Row]:
    """What is read of an operation, from where, and on which condition; and the parameters."""
    if not scope.limited():
        return _COLUMNS, "operation o", "true", {}
    return _COLUMNS_OF_SOME, _OF_SOME, "n.total > 0", {"unsaid": UNSAID} | scope.params()


def newest(before_id: int | None = None) -> list[Row]:
    """Operations, newest first; one more than a page if there are older ones."""
    columns, source, clause, params = _seen()
    if before_id is not None:
        clause += " AND o.id < %(before)s"
    return fetch(
        f"SELECT {columns} FROM {source} WHERE {clause} ORDER BY o.id DESC LIMIT {PAGE + 1}",  # noqa: S608
        params | {"before": before_id},
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
    columns, source, clause, params = _seen()
    return fetch_one(
        f"""SELECT {columns},
                   (SELECT count(*) FILTER (WHERE i.at > now() - interval '1 minute')
                      FROM (SELECT at FROM operation_item
                             WHERE operation_id = o.id AND outcome IS NOT NULL AND {scope.only("tenant_id")}
                               AND position <= o.reached
                             ORDER BY position DESC LIMIT 5000) i) AS lately,
                   CASE WHEN o.kind = 'purge'
                        THEN (SELECT count(*) FROM (SELECT 1 FROM job_trash WHERE operation_id = o.id
                                                       AND {scope.only("tenant_id")} LIMIT 100000) t)
                   END AS in_trash
              FROM {source} WHERE o.id = %(id)s AND {clause}""",  # noqa: S608
        params | {"id": operation_id},
    )


def reasons(operation_id: int) -> list[Row]:
    """Why rows were skipped or failed, the most frequent first."""
    return fetch(
        f"""SELECT outcome, left(reason, 300) AS reason, count(*) AS n
              FROM operation_item
             WHERE operation_id = %(id)s AND outcome IN ('skipped', 'failed') AND {scope.only("tenant_id")}
             GROUP BY 1, 2 ORDER BY 3 DESC, 2 LIMIT {MOST_REASONS}""",  # noqa: S608
        {"id": operation_id} | scope.params(),
    )


def items(operation_id: int, outcome: str = "", after: int = 0, size: int = PAGE) -> list[Row]:
    """Rows of a set behind a position, with what each job is now; one more than a page if more follow."""
    clause = f" AND {scope.only('i.tenant_id')}"
    if outcome == "open":
        clause += " AND i.outcome IS NULL"
    elif outcome:
        clause += " AND i.outcome = %(outcome)s"
    return fetch(
        f"""SELECT i.*, {_detail(scope.current())} AS detail, left(j.name, 300) AS name,
                   left(j.status::text, 100) AS status, j.dlq, left(j.error, 200) AS error
              FROM (SELECT i.position, i.job_id, i.outcome, left(i.reason, 500) AS reason, i.at, i.detail AS other,
                           i.state, left(i.tenant_id, 300) AS tenant_id, left(i.type, 200) AS type
                      FROM operation_item i
                     WHERE i.operation_id = %(id)s AND i.position > %(after)s{clause}
                     ORDER BY i.position LIMIT {size + 1}) i
              LEFT JOIN "PlatformJob" j ON j.id = i.job_id AND {scope.only('j."tenantId"')}
             ORDER BY i.position""",  # noqa: S608
        {"id": operation_id, "after": after, "outcome": outcome} | scope.params(),
    )


def _detail(within: scope.Scope) -> str:
    """The job that came of a row or is in its way (`i.other`), if it may be seen."""
    if within is None:
        return "i.other"
    return """(SELECT d.id FROM "PlatformJob" d WHERE d.id = i.other AND d."tenantId" = ANY (%(within)s))"""


def export_rows(operation_id: int, after: int, size: int, within: scope.Scope) -> list[Row]:
    """Rows of a set as text, for a file. `within`: what whoever asked may see; a stream outlives its request."""
    clause = "true" if within is None else "i.tenant_id = ANY (%(within)s)"
    return fetch(
        f"""SELECT i.position, i.job_id, i.tenant_id, i.type, i.state, coalesce(i.outcome, 'not yet') AS outcome, i.reason,
                  {_detail(within)} AS detail, i.at::text AS at
             FROM (SELECT *, detail AS other FROM operation_item) i
            WHERE i.operation_id = %(id)s AND i.position > %(after)s AND {clause}
            ORDER BY i.position LIMIT %(size)s""",  # noqa: S608
        {"id": operation_id, "after": after, "size": size, "within": sorted(within or ())},
    )


def fared(operation_id: int, of: int = 500) -> tuple[int, int, int]:
    """Of the last released jobs: how many were looked at, ended since, and failed again."""
    row = fetch_one(
        f"""SELECT count(*) AS n, count(h.to_status) AS ended,
                  count(*) FILTER (WHERE h.to_status IN ('RETRY_WAIT', 'FAILED')) AS failed
             FROM (SELECT job_id, at FROM operation_item
                    WHERE operation_id = %(id)s AND outcome = 'done' AND {scope.only("tenant_id")}
                      AND position <= (SELECT reached FROM operation WHERE id = %(id)s)
                    ORDER BY position DESC LIMIT %(of)s) i
             LEFT JOIN LATERAL (SELECT h.to_status FROM job_history h
                                 WHERE h.job_id = i.job_id AND h.at >= i.at
                                   AND h.from_status IN ('RUNNING', 'CANCEL_REQUESTED')
                                   AND h.to_status IN ('DONE', 'FAILED', 'CANCELLED', 'RETRY_WAIT')
                                 ORDER BY h.id LIMIT 1) h ON true""",  # noqa: S608
        {"id": operation_id, "of": of} | scope.params(),
    )
    return (row["n"], row["ended"], row["failed"]) if row else (0, 0, 0)


def trash(after: Cursor | None, before: Cursor | None) -> Page:
    """What was purged and can be restored, newest first."""
    cursor, clause, order = before or after, scope.only("t.tenant_id"), "t.purged_at DESC, t.job_id DESC"
    params: Row = dict(scope.params())
    if cursor:
        clause += f" AND (t.purged_at, t.job_id) {'>' if before else '<'} (%(at)s::timestamptz, %(id)s)"
        params |= {"at": cursor.at, "id": cursor.id}
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
        f"""SELECT (SELECT count(*) FROM (SELECT 1 FROM job_trash WHERE {scope.only("tenant_id")} LIMIT %(most)s) t) AS n,
                  (SELECT min(purged_at) FROM job_trash WHERE {scope.only("tenant_id")}) AS oldest""",  # noqa: S608
        {"most": most} | scope.params(),
    )
    return (row["n"], row["oldest"]) if row else (0, None)
