-- One job, for a person at a shell. The values as text, so that no number is rounded.
SELECT id, detiq_state(status::text, dlq) AS state, type, "tenantId" AS tenant, "projectId" AS project, name, priority,
       progress, "currentStep" AS step, "queuedAt" AS queued_at, "startedAt" AS started_at, "finishedAt" AS finished_at,
       "heartbeatAt" AS heartbeat_at, "workerId" AS worker, "retryCount" AS retry_count, "redriveCount" AS redrive_count,
       "nextRetryAt" AS next_retry_at, "failureType"::text AS failure_type, fingerprint AS group, error,
       "submittedBy" AS submitted_by, "originId" AS origin, "checkpointAt" AS checkpoint_at,
       config::text AS config, result::text AS result, checkpoint::text AS checkpoint
  FROM "PlatformJob"
 WHERE id = %(id)s
