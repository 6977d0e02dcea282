-- Rows of release 1.1.25: FAILED with a time to try again.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, 'failed with a retry time, by an older release'))
UPDATE "PlatformJob"
   SET status = 'QUEUED', "requeuedAt" = clock_timestamp(), priority = greatest(priority, -2147483647), "retryCount" = least(greatest("retryCount", 0)::bigint + 1, 2147483647),
       "workerId" = NULL, "heartbeatAt" = NULL, "startedAt" = NULL, "finishedAt" = NULL, "nextRetryAt" = NULL
  FROM said
 WHERE id = ANY (ARRAY(
           SELECT f.id
             FROM "PlatformJob" f
            WHERE status = 'FAILED' AND NOT dlq AND "nextRetryAt" <= now()
              -- Whose key another job holds waits until that one has ended; of several such, the first goes first.
              AND NOT EXISTS (SELECT 1 FROM "PlatformJob" o
                               WHERE o."uniqueKey" = f."uniqueKey"
                                 AND o.status IN ('QUEUED', 'RUNNING', 'RETRY_WAIT', 'CANCEL_REQUESTED'))
              AND NOT EXISTS (SELECT 1 FROM "PlatformJob" o
                               WHERE o."uniqueKey" = f."uniqueKey" AND o.status = 'FAILED' AND NOT o.dlq AND o.id < f.id)
            LIMIT %(limit)s
              FOR UPDATE SKIP LOCKED))
RETURNING id
