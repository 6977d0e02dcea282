-- Rows of release 1.1.25: FAILED with a time to try again.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, 'failed with a retry time, by an older release'))
UPDATE "PlatformJob"
   SET status = 'QUEUED', "requeuedAt" = clock_timestamp(), "retryCount" = "retryCount" + 1,
       "workerId" = NULL, "heartbeatAt" = NULL, "startedAt" = NULL, "finishedAt" = NULL, "nextRetryAt" = NULL
  FROM said
 WHERE id = ANY (ARRAY(
           SELECT id
             FROM "PlatformJob"
            WHERE status = 'FAILED' AND NOT dlq AND "nextRetryAt" <= now()
            LIMIT %(limit)s
              FOR UPDATE SKIP LOCKED))
RETURNING id
