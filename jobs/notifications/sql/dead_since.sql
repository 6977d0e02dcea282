-- Jobs that were dead-lettered since a minute, and the type and tenant with most of them.
WITH dead AS MATERIALIZED (
    SELECT tenant_id, type, sum(dead) AS n
      FROM (SELECT tenant_id, type, dead FROM failure_tenant WHERE grain = 'm' AND at >= %(since)s
            UNION ALL
            SELECT tenant_id, type, dead FROM failure_delta WHERE at >= %(since)s) d
     WHERE dead > 0
     GROUP BY 1, 2
)
SELECT (SELECT coalesce(sum(n), 0)::bigint FROM dead) AS n,
       (SELECT count(DISTINCT tenant_id) FROM dead) AS tenants,
       (SELECT type FROM dead GROUP BY 1 ORDER BY sum(n) DESC, 1 LIMIT 1) AS type,
       (SELECT max(m) FROM (SELECT sum(n)::bigint AS m FROM dead GROUP BY type) t) AS of_type
