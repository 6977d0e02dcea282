"""The tenants' page: who has jobs or a setting, the busiest first."""

from typing import Any

from jobs.conf import conf
from jobs.console import scope
from jobs.console.queries.counts import STATES
from jobs.console.queries.db import Row, fetch

MOST = 50
# Counting them stops here.
MOST_COUNTED = 10_000


def page(name: str, running: dict[str, int], first: list[str]) -> list[Row]:
    """Up to `MOST` tenants whose name has a text: those named `first`, then by what waits and runs (`running`).

    All counters of all tenants are read only where a name is looked for or too few tenants wait.
    """
    busiest = [] if name else _busiest(running, first)
    those = "tenant_id = ANY (%(busiest)s)" if len(busiest) == MOST else "true"
    return fetch(
        f"""SELECT t.tenant_id, t.queued, t.retry_wait, t.dead, t.total, coalesce(r.n, 0) AS running,
                   detiq_tenant_cap(t.tenant_id, %(cap)s) AS cap, s.ends_at, s.note,
                   s.cap IS NOT NULL OR s.unlimited OR s.ends_at IS NOT NULL AS own,
                   coalesce(s.weight, 1) AS weight, t.tenants
              FROM (SELECT *, count(*) OVER () AS tenants
                      FROM (SELECT tenant_id,
                                   coalesce(sum(n) FILTER (WHERE state = 'QUEUED'), 0)::bigint AS queued,
                                   coalesce(sum(n) FILTER (WHERE state = 'RETRY_WAIT'), 0)::bigint AS retry_wait,
                                   coalesce(sum(n) FILTER (WHERE state = 'DEAD_LETTERED'), 0)::bigint AS dead,
                                   sum(n)::bigint AS total
                              FROM ({STATES}) c
                             WHERE (%(name)s = '' OR strpos(lower(tenant_id), lower(%(name)s)) > 0)
                               AND {those} AND {scope.only("tenant_id")}
                             GROUP BY 1 HAVING sum(n) > 0) x) t
              LEFT JOIN unnest(%(names)s::text[], %(ns)s::bigint[]) AS r (tenant_id, n) USING (tenant_id)
              LEFT JOIN tenant_setting s USING (tenant_id)
             ORDER BY t.tenant_id = ANY (%(first)s) DESC, t.queued DESC, running DESC, t.total DESC, t.tenant_id
             LIMIT {MOST}""",  # noqa: S608
        {"cap": conf().tenant_cap, "name": name, "busiest": busiest} | _known(running, first) | scope.params(),
    )


def _busiest(running: dict[str, int], first: list[str]) -> list[str]:
    """At most `MOST` tenants with something queued, by what `page` sorts by: from the counters of what is queued alone."""
    rows = fetch(
        f"""SELECT tenant_id, sum(c.n) AS queued, max(coalesce(r.n, 0)) AS running
              FROM (SELECT tenant_id, n FROM tally_state WHERE state = 'QUEUED' AND n <> 0
                    UNION ALL
                    SELECT tenant_id, n FROM tally_delta WHERE to_state = 'QUEUED'
                    UNION ALL
                    SELECT tenant_id, -n FROM tally_delta WHERE from_state = 'QUEUED') c
              LEFT JOIN unnest(%(names)s::text[], %(ns)s::bigint[]) AS r (tenant_id, n) USING (tenant_id)
             WHERE {scope.only("tenant_id")}
             GROUP BY 1 HAVING sum(c.n) > 0
             ORDER BY tenant_id = ANY (%(first)s) DESC, queued DESC, running DESC, tenant_id LIMIT {MOST}""",  # noqa: S608
        _known(running, first) | scope.params(),
    )
    return [row["tenant_id"] for row in rows]


def _known(running: dict[str, int], first: list[str]) -> dict[str, Any]:
    return {"names": list(running), "ns": list(running.values()), "first": first}


def how_many(rows: list[Row]) -> int:
    """How many tenants have jobs, of which these are a `page`: exact below `MOST_COUNTED`, where counting stops."""
    if len(rows) < MOST:
        return len(rows)
    return max(int(rows[0]["tenants"]), _all_tenants())


def _all_tenants() -> int:
    """The tenants with a folded counter, by jumping from one to the next."""
    found = fetch(
        f"""WITH RECURSIVE one AS (
                (SELECT tenant_id FROM tally_state WHERE n > 0 AND {scope.only("tenant_id")} ORDER BY tenant_id LIMIT 1)
                UNION ALL
                SELECT next.tenant_id FROM one CROSS JOIN LATERAL (
                    SELECT tenant_id FROM tally_state
                     WHERE n > 0 AND tenant_id > one.tenant_id AND {scope.only("tenant_id")}
                     ORDER BY tenant_id LIMIT 1) next
            )
            SELECT count(*) AS n FROM (SELECT 1 FROM one LIMIT {MOST_COUNTED}) c""",  # noqa: S608
        scope.params(),
    )
    return int(found[0]["n"])
