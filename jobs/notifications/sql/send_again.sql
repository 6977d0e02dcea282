UPDATE alert_delivery SET state = 'PENDING', attempts = 0, due_at = clock_timestamp()
 WHERE id = %(id)s AND state = 'FAILED' RETURNING id, alert_id, channel_id, event
