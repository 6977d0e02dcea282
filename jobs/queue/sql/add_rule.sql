INSERT INTO failure_rule (kind, pattern, failure_type, why, position, enabled, created_by)
VALUES (%(kind)s, %(pattern)s, %(failure_type)s, %(why)s, %(position)s, %(enabled)s, %(by)s)
RETURNING id
