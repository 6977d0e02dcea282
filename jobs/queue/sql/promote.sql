-- Retries whose time has come (or that have none) go back to the queue.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, NULL))
UPDATE "PlatformJob"
   SET status = 'QUEUED', "requeuedAt" = clock_timestamp(),
       "workerId" = NULL, "heartbeatAt" = NULL, "startedAt" = NULL, "finishedAt" = NULL, "nextRetryAt" = NULL
  FROM said
 WHERE id = ANY (ARRAY(
           SELECT id
             FROM "PlatformJob"
            WHERE status = 'RETRY_WAIT' AND NOT dlq AND ("nextRetryAt" IS NULL OR "nextRetryAt" <= now())
            ORDER BY "nextRetryAt" NULLS FIRST
            LIMIT %(limit)s
              FOR UPDATE SKIP LOCKED))
RETURNING id
