-- What a claim reaches before this job, as far as it can be counted in a moment: each count stops at `most`. The types are
-- those that the same workers take.
WITH job AS MATERIALIZED (
    SELECT j.id, j.type, j."tenantId" AS tenant, -j.priority AS level, coalesce(j."requeuedAt", j."queuedAt") AS since
      FROM "PlatformJob" j
     WHERE j.id = %(id)s AND j.status = 'QUEUED'
), types AS MATERIALIZED (
    SELECT j.type FROM job j
     UNION
    SELECT unnest(w.types)
      FROM worker w
      JOIN job j ON j.type = ANY (w.types)
     WHERE w.stopped_at IS NULL AND w.heartbeat_at > clock_timestamp() - make_interval(secs => %(silent)s)
)
SELECT (SELECT count(*)
          FROM (SELECT 1
                  FROM "PlatformJob" o, job j
                 WHERE o.status = 'QUEUED' AND o."nextRetryAt" IS NULL AND o.type = j.type AND (-o.priority) = j.level
                   AND o."tenantId" = j.tenant
                   AND (coalesce(o."requeuedAt", o."queuedAt"), o.id) < (j.since, j.id)
                 LIMIT %(most)s) c)::integer AS own,
       (SELECT count(*)
          FROM (SELECT h.n
                  FROM types t
                 CROSS JOIN job j
                 CROSS JOIN LATERAL (SELECT 1 AS n
                                       FROM "PlatformJob" o
                                      WHERE o.status = 'QUEUED' AND o."nextRetryAt" IS NULL AND o.type = t.type
                                        AND (-o.priority) < j.level
                                      LIMIT %(most)s) h
                 LIMIT %(most)s) c)::integer AS higher,
       -- From one tenant that waits to the next, along the index; the empty name has none before it.
       (WITH RECURSIVE ring (type, level, tenant, n) AS (
            SELECT t.type, j.level, '', 0 FROM types t CROSS JOIN job j
            UNION ALL
            SELECT r.type, r.level, n.tenant, r.n + 1
              FROM ring r
             CROSS JOIN LATERAL (SELECT o."tenantId" AS tenant
                                   FROM "PlatformJob" o
                                  WHERE o.status = 'QUEUED' AND o."nextRetryAt" IS NULL AND o.type = r.type
                                    AND (-o.priority) = r.level AND o."tenantId" > r.tenant
                                  ORDER BY o."tenantId"
                                  LIMIT 1) n
             WHERE r.n < %(most_tenants)s
        )
        SELECT count(DISTINCT r.tenant) FROM ring r, job j WHERE r.n > 0 AND r.tenant <> j.tenant)::integer
       + (SELECT count(*)
            FROM job j
           WHERE j.tenant <> ''
             AND (SELECT true
                    FROM types t
                   CROSS JOIN LATERAL (SELECT 1
                                         FROM "PlatformJob" o
                                        WHERE o.status = 'QUEUED' AND o."nextRetryAt" IS NULL AND o.type = t.type
                                          AND (-o.priority) = j.level AND o."tenantId" = ''
                                        LIMIT 1) e
                   LIMIT 1))::integer AS tenants
  FROM job
