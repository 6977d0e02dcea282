-- What is live now.
SELECT id AS job_id, "tenantId" AS tenant_id, type, inline, "workerId" AS worker,
       coalesce("startedAt", "heartbeatAt", "queuedAt") AS started
  FROM "PlatformJob" WHERE status IN ('RUNNING', 'CANCEL_REQUESTED')
