-- A new job, QUEUED; or, when another active job holds the unique key, no row. Waits for a rival that has inserted the
-- same key and not yet committed, so that the answer is true whatever the rival does.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, %(reason)s))
INSERT INTO "PlatformJob" (id, "tenantId", "projectId", type, name, priority, config, "submittedBy", "uniqueKey",
                           "originId", checkpoint, "nextRetryAt")
SELECT %(id)s, %(tenant_id)s, %(project_id)s, %(type)s, %(name)s, %(priority)s, %(config)s::jsonb, %(submitted_by)s,
       %(unique_key)s, %(origin_id)s, %(checkpoint)s::jsonb,
       clock_timestamp() + make_interval(secs => %(delay_seconds)s)
  FROM said
ON CONFLICT ("uniqueKey")
      WHERE "uniqueKey" IS NOT NULL AND status IN ('QUEUED', 'RUNNING', 'RETRY_WAIT', 'CANCEL_REQUESTED')
DO NOTHING
RETURNING id
