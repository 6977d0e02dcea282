INSERT INTO {table} (id, "tenantId", "projectId", type, name, status, priority, config, result, error, progress,
                     "currentStep", "queuedAt", "requeuedAt", "startedAt", "finishedAt", "heartbeatAt", "workerId",
                     "retryCount", "nextRetryAt", "failureType", dlq, "dlqAt", "dlqReason", "submittedBy", fingerprint)
SELECT id, tenant, project, type, '', fate, CASE n %% 50 WHEN 0 THEN 10 WHEN 1 THEN -10 ELSE 0 END,
       jsonb_build_object('url', 'https://site-' || rank || '.example/', 'maxPages', 500, 'tenantId', tenant,
                          'projectId', project),
       CASE WHEN fate = 'DONE' THEN jsonb_build_object('pages', n %% 500, 'seconds', round(seconds::numeric, 1))
            WHEN ailing THEN jsonb_build_object('failureType', failure_type) END,
       CASE WHEN ailing THEN error END,
       CASE fate WHEN 'DONE' THEN 100 WHEN 'QUEUED' THEN 0 ELSE (spin * 99)::integer END,
       CASE WHEN fate = 'RUNNING' THEN 'page ' || n %% 500 || ' of 500' END,
       at, CASE WHEN retries > 0 AND fate <> 'RETRY_WAIT' THEN started - interval '1 s' END,
       CASE WHEN fate NOT IN ('QUEUED', 'CANCELLED') THEN started END,
       CASE WHEN fate IN ('RETRY_WAIT', 'FAILED') THEN started + round - interval '61 s'
            WHEN fate = 'DONE' THEN started + make_interval(secs => seconds)
            WHEN fate = 'CANCELLED' THEN at + wait END,
       CASE WHEN fate = 'RUNNING' THEN now() END,
       CASE WHEN fate = 'RUNNING' THEN 'bench-host:1:' || lpad(to_hex(n %% 8), 8, '0') END,
       CASE WHEN fate = 'FAILED' THEN retries + 1 ELSE retries END,
       CASE WHEN fate = 'RETRY_WAIT' THEN now() + interval '1 min' * (n %% 5) END,
       CASE WHEN ailing THEN failure_type END,
       fate = 'FAILED',
       CASE WHEN fate = 'FAILED' THEN started + round - interval '61 s' END,
       CASE WHEN fate = 'FAILED' THEN error END,
       CASE n %% 9 WHEN 0 THEN 'api' ELSE 'user-' || rank || '@tenant.example' END,
       CASE WHEN ailing THEN fingerprint END
  FROM (SELECT *, fate IN ('RETRY_WAIT', 'FAILED') AS ailing,
               at + wait + CASE WHEN fate = 'RETRY_WAIT' THEN 0 ELSE retries END * round AS started
          FROM bench_story) s
