-- The queue as it was before: caps counted for each candidate, in queue order, in the statement that claims.
UPDATE source_job
   SET status = 'RUNNING', "startedAt" = now(), "heartbeatAt" = now(), "workerId" = %(worker)s
 WHERE id = (
       SELECT c.id
         FROM source_job c
        WHERE c.status = 'QUEUED'
          AND (c."nextRetryAt" IS NULL OR c."nextRetryAt" <= now())
          AND (c.type <> 'DISCOVER'
               OR (SELECT count(*) FROM source_job d WHERE d.status = 'RUNNING' AND d.type = 'DISCOVER') < %(discover_cap)s)
          AND (SELECT count(*) FROM source_job t
                WHERE t.status = 'RUNNING' AND t."tenantId" = c."tenantId" AND NOT t.inline) < %(tenant_cap)s
        ORDER BY c.priority DESC, c."queuedAt"
        LIMIT 1
          FOR UPDATE SKIP LOCKED)
RETURNING id, "tenantId", "projectId", type, name, config::text, checkpoint::text, "retryCount", "startedAt"
