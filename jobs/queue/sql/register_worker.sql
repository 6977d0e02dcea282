INSERT INTO worker (id, host, pid, slots, types, version, versions)
VALUES (%(id)s, %(host)s, %(pid)s, %(slots)s, %(types)s::text[], %(version)s, %(versions)s::jsonb)
ON CONFLICT (id) DO UPDATE SET heartbeat_at = clock_timestamp()
