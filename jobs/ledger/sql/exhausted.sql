SELECT id, company_id, document_id, hook_type, attempts, last_error, created_at, updated_at
  FROM document_lifecycle_events
 WHERE status = 'pending' AND attempts > 0 AND attempts >= %(max_attempts)s
 ORDER BY updated_at DESC, id DESC
 LIMIT %(limit)s
