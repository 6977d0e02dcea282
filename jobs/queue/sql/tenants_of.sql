-- Whose jobs these are.
SELECT DISTINCT "tenantId" AS tenant_id FROM "PlatformJob" WHERE id = ANY (%(ids)s)
UNION
SELECT tenant_id FROM job_trash WHERE job_id = ANY (%(ids)s)
 LIMIT 2
