-- Retries whose time has come (or that have none) go back to the queue. The lowest number that fits has no opposite, by which
-- the queue is ordered: one such row would keep all of its batch from going.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, NULL))
UPDATE "PlatformJob"
   SET status = 'QUEUED', "requeuedAt" = clock_timestamp(), priority = greatest(priority, -2147483647),
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
