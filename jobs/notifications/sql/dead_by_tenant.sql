-- Tenants with so many dead letters since a minute, most first.
SELECT tenant_id, sum(dead)::bigint AS n
  FROM (SELECT tenant_id, dead FROM failure_tenant WHERE grain = 'm' AND at >= %(since)s
        UNION ALL
        SELECT tenant_id, dead FROM failure_delta WHERE at >= %(since)s) d
 WHERE dead > 0
 GROUP BY 1 HAVING sum(dead) >= %(threshold)s
 ORDER BY 2 DESC, 1
 LIMIT %(most)s
