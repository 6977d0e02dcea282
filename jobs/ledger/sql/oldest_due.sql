-- Since when the oldest event that may run now has waited, in seconds.
SELECT coalesce(detiq_seconds(created_at, clock_timestamp()), 0) AS seconds
  FROM document_lifecycle_events
 WHERE status = 'pending' AND attempts < %(max_attempts)s
   AND (next_attempt_at IS NULL OR next_attempt_at <= clock_timestamp())
 ORDER BY created_at, id
 LIMIT 1
