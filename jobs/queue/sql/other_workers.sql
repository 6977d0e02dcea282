-- Who runs jobs without being in our registry: workers of other programs that gave a sign of life lately. Inline jobs are
-- no worker's: their caller does the work itself.
SELECT j."workerId"::text AS id, count(*) AS running,
       max(coalesce(j."heartbeatAt", j."startedAt"))::timestamptz AS heartbeat_at
  FROM "PlatformJob" j
 WHERE j.status IN ('RUNNING', 'CANCEL_REQUESTED') AND NOT j.inline AND j."workerId" IS NOT NULL
   AND coalesce(j."heartbeatAt", j."startedAt") > clock_timestamp() - make_interval(secs => %(silent_seconds)s)
   AND NOT EXISTS (SELECT 1 FROM worker w WHERE w.id = j."workerId")
 GROUP BY 1
 ORDER BY 1
 LIMIT %(limit)s
