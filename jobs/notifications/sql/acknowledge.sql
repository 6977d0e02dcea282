UPDATE alert SET acked_at = clock_timestamp(), acked_by = %(by)s, ack_note = %(note)s
 WHERE id = %(id)s AND closed_at IS NULL AND acked_at IS NULL
RETURNING id, rule, subject, tenant_id, title
