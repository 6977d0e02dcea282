UPDATE alert_delivery SET state = 'SENT', sent_at = coalesce(%(now)s::timestamptz, clock_timestamp()), last_error = NULL
 WHERE id = %(id)s AND state = 'PENDING'
