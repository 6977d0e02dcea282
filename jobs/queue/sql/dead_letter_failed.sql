-- Failed for good, but not yet in the DLQ; and what two writers at once left as waiting and dead at the same time.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, NULL))
UPDATE "PlatformJob"
   SET status = 'FAILED', dlq = true, "dlqAt" = coalesce("dlqAt", clock_timestamp()),
       "dlqReason" = coalesce("dlqReason", error), "nextRetryAt" = NULL, "workerId" = NULL, "heartbeatAt" = NULL,
       "finishedAt" = coalesce("finishedAt", clock_timestamp())
  FROM said
 WHERE id = ANY (ARRAY(
           SELECT id
             FROM "PlatformJob"
            WHERE status = 'FAILED' AND NOT dlq AND "nextRetryAt" IS NULL
              AND ("failureType" IS NOT NULL OR "retryCount" >= 5)
            LIMIT %(limit)s
              FOR UPDATE SKIP LOCKED)
       || ARRAY(
           SELECT id
             FROM "PlatformJob"
            WHERE status = 'RETRY_WAIT' AND dlq
            LIMIT %(limit)s
              FOR UPDATE SKIP LOCKED))
RETURNING id
