SELECT (SELECT tenant_id FROM tally_state GROUP BY tenant_id ORDER BY sum(n) DESC LIMIT 1),
       (SELECT fingerprint FROM failure_group ORDER BY n DESC LIMIT 1),
       (SELECT id FROM "PlatformJob" WHERE dlq ORDER BY "dlqAt" DESC LIMIT 1)
