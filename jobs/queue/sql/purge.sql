-- Ended jobs go to the trash, whole, from where they can be restored.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, %(reason)s)),
target AS MATERIALIZED (
    SELECT id, status::text AS status, dlq FROM "PlatformJob" WHERE id = ANY (%(ids)s) ORDER BY id FOR UPDATE
),
gone AS (
    DELETE FROM "PlatformJob" j
     USING target t, said
     WHERE j.id = t.id AND t.status IN ('DONE', 'FAILED', 'CANCELLED')
    RETURNING j AS job
),
kept AS (
    INSERT INTO job_trash (job_id, tenant_id, row, operation_id, purged_by)
    SELECT (g.job).id, (g.job)."tenantId", detiq_trash(g.job), %(operation_id)s, %(actor)s FROM gone g
    ON CONFLICT (job_id) DO UPDATE
       SET row = EXCLUDED.row, operation_id = EXCLUDED.operation_id, purged_by = EXCLUDED.purged_by,
           purged_at = clock_timestamp()
    RETURNING job_id
)
SELECT t.id, t.status AS found, t.dlq AS found_dlq, CASE WHEN k.job_id IS NOT NULL THEN 'TRASH' END AS now_is
  FROM target t LEFT JOIN kept k ON k.job_id = t.id
