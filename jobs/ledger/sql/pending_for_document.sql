SELECT id, hook_type, attempts, last_error, payload_json, created_at, updated_at, next_attempt_at
  FROM document_lifecycle_events
 WHERE document_id = %(document_id)s AND status = 'pending'
 ORDER BY created_at, id
