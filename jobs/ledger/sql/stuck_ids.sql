-- Failed or exhausted events under a filter, oldest change first, as they were when a person looked at them: what has
-- changed since `seen` is left alone, and so is what somebody has locked.
SELECT id
  FROM document_lifecycle_events
 WHERE (%(state)s <> 'exhausted' AND status = 'failed'
        OR %(state)s <> 'failed' AND status = 'pending' AND attempts > 0 AND attempts >= %(max_attempts)s)
   AND (%(company_id)s::text IS NULL OR company_id = %(company_id)s)
   AND (%(document_id)s::text IS NULL OR document_id = %(document_id)s)
   AND (%(hook_type)s::text IS NULL OR hook_type = %(hook_type)s)
   AND (%(seen)s::timestamptz IS NULL OR updated_at <= %(seen)s::timestamptz)
 ORDER BY updated_at, id
 LIMIT %(limit)s
   FOR NO KEY UPDATE SKIP LOCKED
