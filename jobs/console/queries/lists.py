"""The groups of dead letters."""

from jobs.console import scope
from jobs.console.queries.db import Row, fetch


def dead_groups(most: int = 20, rows: int = 20_000) -> tuple[list[Row], bool]:
    """The newest dead letters by type and fingerprint, most first; whether older ones were left out."""
    groups = fetch(
        f"""WITH newest AS MATERIALIZED (  -- from the index alone, however large the jobs are
                SELECT id, type, fingerprint, "tenantId", "dlqAt" FROM "PlatformJob"
                 WHERE dlq AND {scope.only('"tenantId"')} ORDER BY "dlqAt" DESC, id DESC LIMIT %(rows)s
            ), counted AS (
                SELECT type, fingerprint, sum(n)::bigint AS n, count(*) AS tenants, max(latest) AS latest,
                       sum(sum(n)) OVER () AS total
                  FROM (SELECT type, fingerprint, "tenantId", count(*) AS n, max("dlqAt") AS latest
                          FROM newest GROUP BY 1, 2, 3) by_tenant
                 GROUP BY 1, 2 ORDER BY n DESC, latest DESC LIMIT %(most)s
            ), samples AS (
                SELECT c.type, c.fingerprint, max(n.id) AS id
                  FROM counted c JOIN newest n ON n.type = c.type AND n."dlqAt" = c.latest
                                              AND n.fingerprint IS NOT DISTINCT FROM c.fingerprint
                 GROUP BY 1, 2
            )
            SELECT left(c.type, 200) AS type, c.fingerprint, c.n, c.tenants, c.latest, c.total,
                   left(j.error, 300) AS error, j."failureType"::text AS failure_type
              FROM counted c
              LEFT JOIN samples s ON s.type = c.type AND s.fingerprint IS NOT DISTINCT FROM c.fingerprint
              LEFT JOIN "PlatformJob" j ON j.id = s.id
             ORDER BY c.n DESC, c.latest DESC""",  # noqa: S608  (constants)
        {"most": most, "rows": rows} | scope.params(),
    )
    return groups, bool(groups) and groups[0]["total"] >= rows
