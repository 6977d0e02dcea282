INSERT INTO queue_pause (type, tenant_id, reason, owner) VALUES (%s, %s, 'soak', 'soak') RETURNING id
