-- Tenants that a pause in force holds something of, and that have not been told of it. A pause of one tenant hits it at
-- once, any other those whose jobs wait within its scope.
SELECT p.pause, t.tenant_id
  FROM unnest(%(pauses)s::text[], %(types)s::text[], %(tenants)s::text[], %(projects)s::text[])
       AS p (pause, type, tenant, project)
 CROSS JOIN LATERAL (
       SELECT p.tenant AS tenant_id WHERE p.tenant IS NOT NULL
       UNION
       SELECT s.tenant_id FROM tally_state s
        WHERE p.tenant IS NULL AND s.state = 'QUEUED' AND s.n > 0 AND (p.type IS NULL OR s.type = p.type)
          AND (p.project IS NULL
               OR EXISTS (SELECT FROM "PlatformJob" j
                           WHERE j."tenantId" = s.tenant_id AND j.type = s.type AND j.status = 'QUEUED'
                             AND j."projectId" = p.project))) t
 WHERE NOT EXISTS (SELECT FROM notice_pause k WHERE k.pause = p.pause AND k.tenant_id = t.tenant_id)
 LIMIT %(limit)s
