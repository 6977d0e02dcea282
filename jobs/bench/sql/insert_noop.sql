INSERT INTO "PlatformJob" (id, "tenantId", type, config) VALUES (%(id)s, %(tenant)s, %(type)s, jsonb_build_object('n', %(n)s::integer))
