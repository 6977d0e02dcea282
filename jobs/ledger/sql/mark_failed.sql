-- The run failed for good. `completed_at` stays empty: it is not done.
UPDATE document_lifecycle_events
   SET status = 'failed',
       last_error = %(error)s,
       updated_at = clock_timestamp(),
       completed_at = NULL,
       claim_token = NULL
 WHERE id = %(id)s AND status = 'running' AND attempts = %(attempts)s AND claim_token = %(token)s
RETURNING id
