-- By whoever took it last.
UPDATE alert_delivery
   SET state = CASE WHEN %(final)s THEN 'FAILED' ELSE 'PENDING' END, last_error = %(error)s,
       due_at = coalesce(%(now)s::timestamptz, clock_timestamp()) + make_interval(secs => %(wait_seconds)s)
 WHERE id = %(id)s AND state = 'PENDING' AND attempts = %(attempts)s
