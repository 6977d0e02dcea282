-- Runs without a sign of life for longer than the stale timeout, by the database's clock. `beat` is what was judged.
-- A time that Python cannot hold (-infinity, before our era: another program's) is left to the repair: read here, it would
-- keep every other run from being rescued.
SELECT id, type, status::text AS status, "workerId" AS worker, "startedAt" AS started, inline, "retryCount" AS retry_count, "lostCount" AS lost_count,
       coalesce("heartbeatAt", "startedAt", "queuedAt") AS beat,
       extract(epoch FROM clock_timestamp() - coalesce("heartbeatAt", "startedAt", "queuedAt"))::float8 AS silent_seconds
  FROM "PlatformJob"
 WHERE status IN ('RUNNING', 'CANCEL_REQUESTED')
   AND (coalesce("heartbeatAt", "startedAt", "queuedAt") < clock_timestamp() - make_interval(secs => %(stale_seconds)s)
        OR status = 'CANCEL_REQUESTED' AND "workerId" IS NULL AND NOT inline)
   AND coalesce("heartbeatAt", "startedAt", "queuedAt") BETWEEN '0001-01-02' AND '9999-12-30'
   AND coalesce("startedAt", '2000-01-01') BETWEEN '0001-01-02' AND '9999-12-30'
 ORDER BY id
 LIMIT %(limit)s
