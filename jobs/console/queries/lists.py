"""The rows of the simple pages: DLQ groups, audit, operations. Every read is bounded."""

from jobs.console.queries.db import Row, fetch

PAGE = 50


def dead_groups(most: int = 20, rows: int = 20_000) -> tuple[list[Row], bool]:
    """The newest dead letters by type and fingerprint, most first; whether older ones were left out."""
    groups = fetch(
        """SELECT left(type, 200) AS type, fingerprint, count(*) AS n, count(DISTINCT "tenantId") AS tenants,
                  max("dlqAt") AS latest, (array_agg(left(error, 300) ORDER BY "dlqAt" DESC))[1] AS error,
                  (array_agg("failureType" ORDER BY "dlqAt" DESC))[1] AS failure_type, sum(count(*)) OVER () AS total
             FROM (SELECT type, fingerprint, "tenantId", "dlqAt", left(error, 300) AS error, "failureType"::text
                     FROM "PlatformJob" WHERE dlq ORDER BY "dlqAt" DESC, id DESC LIMIT %(rows)s) d
            GROUP BY 1, 2 ORDER BY n DESC, latest DESC LIMIT %(most)s""",
        {"most": most, "rows": rows},
    )
    return groups, bool(groups) and groups[0]["total"] >= rows


def operations() -> list[Row]:
    """The newest bulk operations."""
    return fetch(
        """SELECT id, left(kind, 100) AS kind, left(state, 40) AS state, left(actor, 300) AS actor,
                  left(reason, 1000) AS reason, total, done, skipped, failed, created_at, finished_at
             FROM operation ORDER BY id DESC LIMIT 100"""
    )
