-- One open alert a rule and subject: NULL when somebody else has just opened it.
INSERT INTO alert (rule, subject, tenant_id, critical, title, detail, evidence_url, action_url, action_label, opened_at, seen_at)
VALUES (%(rule)s, %(subject)s, %(tenant_id)s, %(critical)s, %(title)s, %(detail)s, %(evidence_url)s, %(action_url)s,
        %(action_label)s, %(now)s, %(now)s)
ON CONFLICT (rule, subject) WHERE closed_at IS NULL DO NOTHING
RETURNING id
