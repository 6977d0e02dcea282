UPDATE worker SET stopping = true, stopped_at = clock_timestamp(), heartbeat_at = clock_timestamp() WHERE id = %(id)s
