WITH picked AS MATERIALIZED (
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
