-- Failed before classification existed, or its handler wrote FAILED itself: one minute, doubled with each retry.
-- The exponent is bounded by the guard: fewer than five retries.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, 'failed without a failure type'))
UPDATE "PlatformJob"
   SET status = 'RETRY_WAIT', "retryCount" = greatest("retryCount", 0) + 1,
       "nextRetryAt" = clock_timestamp() + interval '1 minute' * power(2, greatest("retryCount", 0)),
       "workerId" = NULL, "heartbeatAt" = NULL
  FROM said
 WHERE id = ANY (ARRAY(
           SELECT f.id
             FROM "PlatformJob" f
            WHERE status = 'FAILED' AND NOT dlq AND "nextRetryAt" IS NULL AND "failureType" IS NULL AND "retryCount" < 5
              -- Whose key another job holds waits until that one has ended; of several such, the first goes first.
              AND NOT EXISTS (SELECT 1 FROM "PlatformJob" o
                               WHERE o."uniqueKey" = f."uniqueKey"
                                 AND o.status IN ('QUEUED', 'RUNNING', 'RETRY_WAIT', 'CANCEL_REQUESTED'))
              AND NOT EXISTS (SELECT 1 FROM "PlatformJob" o
                               WHERE o."uniqueKey" = f."uniqueKey" AND o.status = 'FAILED' AND NOT o.dlq AND o.id < f.id)
            LIMIT %(limit)s
              FOR UPDATE SKIP LOCKED))
RETURNING id
