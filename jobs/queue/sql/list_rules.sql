SELECT id, kind, pattern, failure_type, why, position, enabled, created_by, created_at, updated_by, updated_at
  FROM failure_rule
 ORDER BY position, id
 LIMIT %(limit)s
