-- Failed and exhausted events wait again, with all their attempts; the error stays until a run goes well. Answers what
-- each was found as.
WITH found AS MATERIALIZED (
    SELECT id, company_id, document_id, hook_type, status, attempts, last_error
      FROM document_lifecycle_events
     WHERE id = ANY (%(ids)s::text[])
     ORDER BY id
       FOR NO KEY UPDATE
),
moved AS (
    UPDATE document_lifecycle_events e
       SET status = 'pending',
           attempts = 0,
           updated_at = clock_timestamp(),
           completed_at = NULL,
           next_attempt_at = NULL,
           claim_token = NULL
      FROM found f
     WHERE e.id = f.id
       AND (f.status = 'failed' OR f.status = 'pending' AND f.attempts >= %(max_attempts)s)
    RETURNING e.id
)
SELECT f.*, m.id IS NOT NULL AS changed
  FROM found f LEFT JOIN moved m USING (id)
 ORDER BY f.id
