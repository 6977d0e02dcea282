INSERT INTO "PlatformJob" (id, type, "tenantId", config) VALUES (%s, %s, %s, '{}')
