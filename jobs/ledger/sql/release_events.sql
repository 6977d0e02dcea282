-- Claimed but not begun: put back as they were. An attempt that was none does not count.
UPDATE document_lifecycle_events
   SET status = 'pending',
       attempts = attempts - 1,
       updated_at = clock_timestamp(),
       claim_token = NULL
 WHERE id = ANY (%(ids)s::text[]) AND status = 'running' AND claim_token = %(token)s
RETURNING id
