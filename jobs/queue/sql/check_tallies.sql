-- Counters, folded and not, that differ from the rows they count.
SELECT coalesce(t.tenant_id, r.tenant_id) AS tenant_id, coalesce(t.type, r.type) AS type,
       coalesce(t.state, r.state) AS state, coalesce(t.n, 0)::bigint AS counted, coalesce(r.n, 0) AS rows
  FROM (SELECT tenant_id, type, state, sum(n) AS n
          FROM (SELECT tenant_id, type, state, n FROM tally_state
                UNION ALL
                SELECT tenant_id, type, from_state, -n FROM tally_delta WHERE from_state IS NOT NULL
                UNION ALL
                SELECT tenant_id, type, to_state, n FROM tally_delta WHERE to_state IS NOT NULL) c
         GROUP BY 1, 2, 3) t
  FULL JOIN (SELECT "tenantId" AS tenant_id, type, detiq_state(status::text, dlq) AS state, count(*) AS n
               FROM "PlatformJob" GROUP BY 1, 2, 3) r
    ON r.tenant_id = t.tenant_id AND r.type = t.type AND r.state = t.state
 WHERE coalesce(t.n, 0) <> coalesce(r.n, 0)
 ORDER BY 1, 2, 3
 LIMIT 1000
