-- How long the longest-waiting job waits that is no redriven one and that no pause of all, its type or tenant holds.
-- One look at the head of each stream; of a stream only the first jobs are asked whether they were redriven.
SELECT coalesce(max(detiq_seconds(h.since, clock_timestamp())), 0) AS seconds
  FROM detiq_heads(500) l
 CROSS JOIN LATERAL (SELECT f.since
                       FROM (SELECT coalesce(j."requeuedAt", j."queuedAt") AS since, j."redriveCount" AS redrives
                               FROM "PlatformJob" j
                              WHERE j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                                AND j.type = l.type AND (-j.priority) = l.level AND j."tenantId" = l.tenant
                              ORDER BY coalesce(j."requeuedAt", j."queuedAt"), j.id
                              LIMIT 100) f
                      WHERE f.redrives = 0
                      ORDER BY f.since LIMIT 1) h
 WHERE NOT EXISTS (SELECT 1 FROM queue_pause p
                    WHERE p.lifted_at IS NULL AND (p.ends_at IS NULL OR p.ends_at > now()) AND p.project_id IS NULL
                      AND coalesce(p.type, l.type) = l.type AND coalesce(p.tenant_id, l.tenant) = l.tenant)
