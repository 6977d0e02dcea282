SELECT id, rule, subject, tenant_id, critical, title, detail, evidence_url, action_url, action_label, opened_at, closed_at
  FROM alert WHERE id = ANY (%(ids)s)
