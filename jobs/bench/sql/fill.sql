-- A block of rows: tenants in turn, one millisecond apart.
INSERT INTO {table} (id, "tenantId", "projectId", type, status, priority, config, "queuedAt",
                     "startedAt", "heartbeatAt", "workerId", "finishedAt", result, progress)
SELECT %(prefix)s || '-' || lpad(n::text, 9, '0'),
       %(tenant)s || lpad((n %% %(tenants)s)::text, 6, '0'),
       %(project)s::text,
       %(type)s,
       %(status)s,
       CASE WHEN %(levels)s > 1 THEN n %% %(levels)s ELSE %(priority)s END,
       jsonb_build_object('url', 'https://site-' || (n %% 997) || '.example/', 'maxPages', 500, 'maxDepth', 10),
       t.since,
       CASE WHEN %(status)s <> 'QUEUED' THEN t.since END,
       CASE WHEN %(status)s = 'RUNNING' THEN clock_timestamp() END,
       CASE WHEN %(status)s = 'RUNNING' THEN 'bench-of-others' END,
       CASE WHEN %(status)s = 'DONE' THEN t.since + interval '3 s' END,
       CASE WHEN %(status)s = 'DONE' THEN '{{"pages": 42}}'::jsonb END,
       CASE WHEN %(status)s = 'DONE' THEN 100 ELSE 0 END
  FROM generate_series(1, %(count)s) n
 CROSS JOIN LATERAL (SELECT now() - make_interval(hours => %(age_hours)s) + n * interval '1 ms' AS since) t
