-- A live drainer says that it still has these.
UPDATE document_lifecycle_events
   SET updated_at = clock_timestamp()
 WHERE status = 'running' AND claim_token = %(token)s
