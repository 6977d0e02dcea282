-- A tracked job: the caller does the work itself, so it is RUNNING at once and takes no worker's slot.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, %(reason)s))
INSERT INTO "PlatformJob" (id, "tenantId", "projectId", type, name, config, "submittedBy", status, inline,
                           "startedAt", "heartbeatAt", "workerId")
SELECT %(id)s, %(tenant_id)s, %(project_id)s, %(type)s, %(name)s, %(config)s::jsonb, %(submitted_by)s, 'RUNNING', true,
       clock_timestamp(), clock_timestamp(), %(worker)s
  FROM said
RETURNING id, "startedAt" AS started_at
