-- The run failed and is tried again after the delay. The attempt counts.
UPDATE document_lifecycle_events
   SET status = 'pending',
       last_error = %(error)s,
       updated_at = clock_timestamp(),
       next_attempt_at = clock_timestamp() + make_interval(secs => %(delay_seconds)s),
       claim_token = NULL
 WHERE id = %(id)s AND status = 'running' AND attempts = %(attempts)s AND claim_token = %(token)s
RETURNING id
