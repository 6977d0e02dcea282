-- One operation for one key, however often it is asked for: a rival's insert is waited for.
INSERT INTO operation (kind, actor, reason, filter, options, idempotency_key, heartbeat_at)
VALUES (%(kind)s, %(actor)s, %(reason)s, %(filter)s, %(options)s, %(key)s, now())
ON CONFLICT (idempotency_key) DO NOTHING
RETURNING id
