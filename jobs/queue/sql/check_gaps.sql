-- Steps that do not begin where the step before them ended, and rows that are not where their last step ended.
WITH step AS (
    SELECT id, job_id, at, actor, detiq_state(from_status, from_dlq) AS was, detiq_state(to_status, to_dlq) AS becomes,
           lag(id) OVER w AS before_id, lag(detiq_state(to_status, to_dlq)) OVER w AS before,
           lead(id) OVER w IS NULL AS is_last
      FROM job_history
     WHERE at >= %(since)s
    WINDOW w AS (PARTITION BY job_id ORDER BY id)
)
SELECT s.job_id, s.at, s.actor, s.before AS expected, s.was AS found
  FROM step s
 WHERE s.before_id IS NOT NULL AND s.was IS DISTINCT FROM s.before
UNION ALL
SELECT s.job_id, s.at, s.actor, s.becomes, detiq_state(j.status::text, j.dlq)
  FROM step s
  LEFT JOIN "PlatformJob" j ON j.id = s.job_id
 WHERE s.is_last AND s.becomes IS DISTINCT FROM detiq_state(j.status::text, j.dlq)
 LIMIT 1000
