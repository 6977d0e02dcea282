INSERT INTO notice_pause (pause, tenant_id) VALUES (%(pause)s, %(tenant)s) ON CONFLICT DO NOTHING RETURNING 1 AS first
