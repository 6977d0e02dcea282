-- Plain SKIP LOCKED: no caps, no pauses, no history. What a claim cannot be faster than.
WITH ended AS (
    UPDATE raw_job
       SET status = 'DONE', "finishedAt" = clock_timestamp(), "heartbeatAt" = NULL, "workerId" = NULL, progress = 100
     WHERE id = ANY (%(ended)s::text[]) AND status = 'RUNNING'
), picked AS MATERIALIZED (
    SELECT id
      FROM raw_job
     WHERE status = 'QUEUED'
     ORDER BY priority DESC, "queuedAt"
     LIMIT %(slots)s
       FOR UPDATE SKIP LOCKED
)
UPDATE raw_job
   SET status = 'RUNNING', "startedAt" = clock_timestamp(), "heartbeatAt" = clock_timestamp(), "workerId" = %(worker)s
 WHERE id = ANY (ARRAY(SELECT id FROM picked))
RETURNING id, "tenantId", "projectId", type, name, config::text, checkpoint::text, "retryCount", "startedAt"
