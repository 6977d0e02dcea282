"""The rows of the simple pages: DLQ groups, audit, operations, ledger. Every read is bounded."""

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


def ledger() -> tuple[list[Row], dict[str, int]]:
    """The newest failed and waiting events, and how many of each, counted up to 10,000. A company is a tenant."""
    seen = scope.only("company_id")
    rows = fetch(
        f"""SELECT left(id, 200) AS id, left(company_id, 300) AS company_id, left(document_id, 300) AS document_id,
                  left(hook_type, 200) AS hook_type, left(status, 40) AS status, attempts,
                  left(last_error, 300) AS last_error, updated_at
             FROM (SELECT * FROM (SELECT * FROM document_lifecycle_events WHERE status = 'failed' AND {seen} LIMIT 1000) f
                   UNION ALL
                   SELECT * FROM (SELECT * FROM document_lifecycle_events WHERE status = 'pending' AND {seen}
                                   ORDER BY created_at, id LIMIT 1000) p
                   UNION ALL
                   SELECT * FROM (SELECT * FROM document_lifecycle_events WHERE status = 'running' AND {seen}
                                   LIMIT 1000) r) e
            ORDER BY updated_at DESC LIMIT 100""",  # noqa: S608
        scope.params(),
    )
    found = fetch(
        " UNION ALL ".join(
            f"""SELECT '{status}' AS status, count(*) AS n FROM (
                    SELECT 1 FROM document_lifecycle_events WHERE status = '{status}' AND {seen} LIMIT 10000) x"""  # noqa: S608
            for status in ("pending", "running", "failed")
        ),
        scope.params(),
    )
    return rows, {row["status"]: row["n"] for row in found}
