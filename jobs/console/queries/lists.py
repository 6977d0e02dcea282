"""The groups of dead letters."""

from jobs.console import scope
from jobs.console.queries.db import fetch, limited
from jobs.console.queries.overview.sharing import Shared
from jobs.rows import Row

# How many groups a page shows.
FEW = 20


def dead_groups(most: int = FEW) -> tuple[list[Row], bool]:
    """The newest dead letters by type and fingerprint, most first; whether older ones were left out.

    What a page shows of all tenants is read once for all who look, and is a second or two old.
    """
    groups, more = _read(most) if scope.limited() or most != FEW else everybodys.get()
    return [dict(group) for group in groups], more


def _read(most: int, rows: int = 20_000) -> tuple[list[Row], bool]:
    # The innermost read is answered from the index alone, however large the jobs are.
    groups = fetch(
        f"""WITH counted AS (
                SELECT type, fingerprint, sum(n)::bigint AS n, count(*) AS tenants, max(latest) AS latest,
                       sum(sum(n)) OVER () AS total
                  FROM (SELECT type, fingerprint, "tenantId", count(*) AS n, max("dlqAt") AS latest
                          FROM (SELECT type, fingerprint, "tenantId", "dlqAt" FROM "PlatformJob"
                                 WHERE dlq AND {scope.only('"tenantId"')}
                                 ORDER BY "dlqAt" DESC, id DESC LIMIT %(rows)s) newest
                         GROUP BY 1, 2, 3) by_tenant
                 GROUP BY 1, 2 ORDER BY n DESC, latest DESC LIMIT %(most)s
            )
            SELECT left(c.type, 200) AS type, c.fingerprint, c.n, c.tenants, c.latest, c.total,
                   left(sample.error, 300) AS error, sample.failure_type
              FROM counted c
              LEFT JOIN LATERAL (
                   SELECT error, "failureType"::text AS failure_type FROM "PlatformJob"
                    WHERE dlq AND "dlqAt" = c.latest AND type = c.type
                      AND fingerprint IS NOT DISTINCT FROM c.fingerprint AND {scope.only('"tenantId"')}
                    ORDER BY "dlqAt" DESC, id DESC LIMIT 1) sample ON true
             ORDER BY c.n DESC, c.latest DESC""",  # noqa: S608  (constants)
        {"most": most, "rows": rows} | scope.params(),
    )
    return groups, bool(groups) and groups[0]["total"] >= rows


def _read_everybodys() -> tuple[list[Row], bool]:
    with limited():
        return _read(FEW)


everybodys = Shared(_read_everybodys, longest=2.0, ahead=0.5)
