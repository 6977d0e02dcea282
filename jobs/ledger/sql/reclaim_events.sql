-- Running for too long without a word, by the database's clock: their process is gone. The attempt counts, so that an event
-- that kills its process ends as exhausted. No time counts as too long, and so does one that lies in the future.
WITH stale AS MATERIALIZED (
    SELECT id
      FROM document_lifecycle_events
     WHERE status = 'running'
       AND (updated_at IS NULL
            OR updated_at < clock_timestamp() - make_interval(secs => %(stale_seconds)s)
            OR updated_at > clock_timestamp() + make_interval(secs => %(stale_seconds)s))
     LIMIT %(limit)s
       FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE document_lifecycle_events e
   SET status = 'pending',
       last_error = 'the process that ran it is gone (attempt ' || e.attempts || ')',
       updated_at = clock_timestamp(),
       next_attempt_at = NULL,
       claim_token = NULL
  FROM stale
 WHERE e.id = stale.id
RETURNING e.id, e.attempts
