-- What became critical meanwhile is no longer held back.
UPDATE alert_delivery SET due_at = %(now)s
 WHERE alert_id = %(alert_id)s AND state = 'PENDING' AND attempts = 0 AND due_at > %(now)s
