-- How long the longest-waiting job of each type waits: one look at the head of each tenant's stream.
WITH RECURSIVE lane (type, level, tenant) AS (
    (SELECT type, (-priority), "tenantId"
       FROM "PlatformJob" WHERE status = 'QUEUED' AND "nextRetryAt" IS NULL
      ORDER BY type, (-priority), "tenantId" LIMIT 1)
    UNION ALL
    SELECT n.*
      FROM lane l
     CROSS JOIN LATERAL (SELECT j.type, (-j.priority), j."tenantId"
                           FROM "PlatformJob" j
                          WHERE j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                            AND (j.type, (-j.priority), j."tenantId") > (l.type, l.level, l.tenant)
                          ORDER BY j.type, (-j.priority), j."tenantId"
                          LIMIT 1) n
)
SELECT l.type, coalesce(max(detiq_seconds(h.since, clock_timestamp())), 0) AS seconds
  FROM (SELECT * FROM lane LIMIT 5000) l
 CROSS JOIN LATERAL (SELECT coalesce(j."requeuedAt", j."queuedAt") AS since
                       FROM "PlatformJob" j
                      WHERE j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                        AND j.type = l.type AND (-j.priority) = l.level AND j."tenantId" = l.tenant
                      ORDER BY coalesce(j."requeuedAt", j."queuedAt")
                      LIMIT 1) h
 GROUP BY 1
