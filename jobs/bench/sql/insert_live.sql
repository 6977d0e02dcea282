-- One job of the live work that goes on beside a redrive.
INSERT INTO "PlatformJob" (id, "tenantId", type, config) VALUES (%(id)s, %(tenant)s, %(type)s, '{}')
