-- Runs without a sign of life for longer than the stale timeout, by the database's clock. `beat` is what was judged.
SELECT id, type, status::text AS status, "workerId" AS worker, "startedAt" AS started, inline, "retryCount" AS retry_count, "lostCount" AS lost_count,
       coalesce("heartbeatAt", "startedAt", "queuedAt") AS beat,
       extract(epoch FROM clock_timestamp() - coalesce("heartbeatAt", "startedAt", "queuedAt"))::float8 AS silent_seconds
  FROM "PlatformJob"
 WHERE status IN ('RUNNING', 'CANCEL_REQUESTED')
   AND (coalesce("heartbeatAt", "startedAt", "queuedAt") < clock_timestamp() - make_interval(secs => %(stale_seconds)s)
        OR status = 'CANCEL_REQUESTED' AND "workerId" IS NULL AND NOT inline)
 ORDER BY id
 LIMIT %(limit)s
