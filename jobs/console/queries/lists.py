"""The rows of the simple pages: DLQ groups, audit, operations. Every read is bounded."""

from jobs.console import scope
from jobs.console.queries.db import Row, fetch

PAGE = 50


def dead_groups(most: int = 20, rows: int = 20_000) -> tuple[list[Row], bool]:
    """The newest dead letters by type and fingerprint, most first; whether older ones were left out."""
    groups = fetch(
        f"""SELECT left(type, 200) AS type, fingerprint, count(*) AS n, count(DISTINCT "tenantId") AS tenants,
                  max("dlqAt") AS latest, (array_agg(left(error, 300) ORDER BY "dlqAt" DESC))[1] AS error,
                  (array_agg("failureType" ORDER BY "dlqAt" DESC))[1] AS failure_type, sum(count(*)) OVER () AS total
             FROM (SELECT type, fingerprint, "tenantId", "dlqAt", left(error, 300) AS error, "failureType"::text
                     FROM "PlatformJob" WHERE dlq AND {scope.only('"tenantId"')}
                    ORDER BY "dlqAt" DESC, id DESC LIMIT %(rows)s) d
            GROUP BY 1, 2 ORDER BY n DESC, latest DESC LIMIT %(most)s""",  # noqa: S608
        {"most": most, "rows": rows} | scope.params(),
    )
    return groups, bool(groups) and groups[0]["total"] >= rows
