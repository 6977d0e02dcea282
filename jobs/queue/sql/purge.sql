-- Ended jobs go to the trash, whole, from where they can be restored. One whose id an earlier job in the trash has stays until
-- that one is restored or gone: what can still be undone is not overwritten.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, %(reason)s)),
target AS MATERIALIZED (
    SELECT j.id, j.status::text AS status, j.dlq, EXISTS (SELECT 1 FROM job_trash e WHERE e.job_id = j.id) AS taken
      FROM "PlatformJob" j WHERE j.id = ANY (%(ids)s) ORDER BY j.id FOR UPDATE
),
gone AS (
    DELETE FROM "PlatformJob" j
     USING target t, said
     WHERE j.id = t.id AND t.status IN ('DONE', 'FAILED', 'CANCELLED') AND NOT t.taken
    RETURNING j AS job
),
kept AS (
    INSERT INTO job_trash (job_id, tenant_id, row, operation_id, purged_by)
    SELECT (g.job).id, (g.job)."tenantId", detiq_trash(g.job), %(operation_id)s, %(actor)s FROM gone g
    RETURNING job_id
)
SELECT t.id,
       CASE WHEN t.taken AND t.status IN ('DONE', 'FAILED', 'CANCELLED') THEN 'TRASH (an earlier job of its id)'
            ELSE t.status END AS found,
       t.dlq AS found_dlq, CASE WHEN k.job_id IS NOT NULL THEN 'TRASH' END AS now_is
  FROM target t LEFT JOIN kept k ON k.job_id = t.id
