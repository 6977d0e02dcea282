UPDATE operation SET heartbeat_at = clock_timestamp()
 WHERE id = %(id)s AND runner = %(runner)s AND state = 'RUNNING'
