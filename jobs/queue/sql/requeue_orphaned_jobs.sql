-- Puts back all runs of one worker at once. For an admin who knows that it is gone: a living worker would lose its work.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, %(reason)s)),
target AS MATERIALIZED (
    SELECT id FROM "PlatformJob" WHERE "workerId" = %(worker)s AND status = 'RUNNING' ORDER BY id FOR UPDATE
)
UPDATE "PlatformJob" j
   SET status = 'QUEUED', "requeuedAt" = clock_timestamp(),
       "workerId" = NULL, "heartbeatAt" = NULL, "startedAt" = NULL, "finishedAt" = NULL, "nextRetryAt" = NULL
  FROM target t, said
 WHERE j.id = t.id
RETURNING j.id
