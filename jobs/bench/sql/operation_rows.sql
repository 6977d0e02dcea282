-- The jobs that an operation is for: tenants in turn, each with what a real one holds.
INSERT INTO {table} (id, "tenantId", type, name, status, dlq, "dlqAt", "dlqReason", error, "failureType", fingerprint,
                     config, "queuedAt", "startedAt", "finishedAt", progress, checkpoint, "checkpointAt")
SELECT 'set-' || lpad(n::text, 9, '0'), 'set-' || n %% %(tenants)s, 'SET', 'job ' || n,
       CASE WHEN %(dead)s THEN 'FAILED' ELSE 'QUEUED' END, %(dead)s,
       CASE WHEN %(dead)s THEN t.since END, CASE WHEN %(dead)s THEN 'HTTP 502 from proxy px-07' END,
       CASE WHEN %(dead)s THEN 'HTTP 502 from proxy px-07' END, CASE WHEN %(dead)s THEN 'TRANSIENT' END,
       CASE WHEN %(dead)s THEN 'v1:bench' END,
       jsonb_build_object('url', 'https://site-' || (n %% 997) || '.example/', 'maxPages', 500, 'maxDepth', 10),
       t.since, CASE WHEN %(dead)s THEN t.since END, CASE WHEN %(dead)s THEN t.since END,
       CASE WHEN %(dead)s THEN 40 ELSE 0 END,
       CASE WHEN %(dead)s THEN jsonb_build_object('visitedUrls', jsonb_build_array('/', '/a', '/b'), 'pendingQueue', '[]'::jsonb) END,
       CASE WHEN %(dead)s THEN t.since END
  FROM generate_series(1, %(count)s) n
 CROSS JOIN LATERAL (SELECT now() - interval '5 hours' + n * interval '1 ms' AS since) t
