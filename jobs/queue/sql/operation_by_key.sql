SELECT id, total FROM operation WHERE idempotency_key = %(key)s
