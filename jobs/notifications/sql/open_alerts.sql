SELECT id, rule, subject, critical, seen_at FROM alert WHERE closed_at IS NULL ORDER BY id FOR UPDATE
