SELECT id, company_id, document_id, hook_type, attempts, last_error, created_at, updated_at
  FROM document_lifecycle_events
 WHERE company_id = %(company_id)s AND status = 'failed'
 ORDER BY updated_at DESC
 LIMIT %(limit)s
