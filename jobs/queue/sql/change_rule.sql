UPDATE failure_rule
   SET kind = %(kind)s, pattern = %(pattern)s, failure_type = %(failure_type)s, why = %(why)s, position = %(position)s,
       enabled = %(enabled)s, updated_by = %(by)s, updated_at = clock_timestamp()
 WHERE id = %(id)s
RETURNING id
