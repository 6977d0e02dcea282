-- What a copy of an ended job is made of. The text of its config, so that no number is rounded on the way.
SELECT id, "tenantId" AS tenant_id, "projectId" AS project_id, type, name, priority, config::text AS config,
       status::text AS status, dlq
  FROM "PlatformJob"
 WHERE id = %(id)s
   FOR SHARE
