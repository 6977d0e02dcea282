SELECT id FROM "PlatformJob" WHERE status IN ('QUEUED', 'RUNNING', 'RETRY_WAIT') ORDER BY random() LIMIT %s
