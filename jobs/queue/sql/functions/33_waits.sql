-- How long what is queued waits: since it came, or came back.

-- Since when the longest-waiting job of each type that is queued waits: two looks a type into the index made for it. NULL
-- when none of them has a finite time.
CREATE OR REPLACE FUNCTION detiq_waits() RETURNS TABLE (type text, since timestamptz)
LANGUAGE sql STABLE AS $$
    WITH RECURSIVE kind AS (
        (SELECT j.type FROM "PlatformJob" j
          WHERE j.status = 'QUEUED' AND j."nextRetryAt" IS NULL AND j.id >= ''
          ORDER BY j.type, coalesce(j."requeuedAt", j."queuedAt") LIMIT 1)
        UNION ALL
        SELECT n.type
          FROM kind k
         CROSS JOIN LATERAL (SELECT j.type FROM "PlatformJob" j
                              WHERE j.status = 'QUEUED' AND j."nextRetryAt" IS NULL AND j.id >= '' AND j.type > k.type
                              ORDER BY j.type, coalesce(j."requeuedAt", j."queuedAt") LIMIT 1) n
    )
    SELECT k.type, f.since
      FROM kind k
      LEFT JOIN LATERAL (SELECT coalesce(j."requeuedAt", j."queuedAt") AS since FROM "PlatformJob" j
                          WHERE j.status = 'QUEUED' AND j."nextRetryAt" IS NULL AND j.id >= '' AND j.type = k.type
                            AND coalesce(j."requeuedAt", j."queuedAt") > '-infinity'
                            AND coalesce(j."requeuedAt", j."queuedAt") < 'infinity'
                          ORDER BY coalesce(j."requeuedAt", j."queuedAt") LIMIT 1) f ON true
$$;

-- Since when the first job of each stream (a type, priority and tenant) waits, by jumping along the claim's own index; of
-- each type at most `p_most` streams. `level` is the negated priority.
CREATE OR REPLACE FUNCTION detiq_heads(p_most integer)
RETURNS TABLE (type text, level integer, tenant text, since timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT k.type, f.level, f.tenant, f.since
      FROM detiq_waits() k
     CROSS JOIN LATERAL (
           WITH RECURSIVE head AS (
               (SELECT (-j.priority) AS level, j."tenantId" AS tenant, coalesce(j."requeuedAt", j."queuedAt") AS since
                  FROM "PlatformJob" j
                 WHERE j.status = 'QUEUED' AND j."nextRetryAt" IS NULL AND j.type = k.type
                 ORDER BY (-j.priority), j."tenantId", coalesce(j."requeuedAt", j."queuedAt"), j.id LIMIT 1)
               UNION ALL
               SELECT n.level, n.tenant, n.since
                 FROM head h
                CROSS JOIN LATERAL (
                      SELECT (-j.priority) AS level, j."tenantId" AS tenant,
                             coalesce(j."requeuedAt", j."queuedAt") AS since
                        FROM "PlatformJob" j
                       WHERE j.status = 'QUEUED' AND j."nextRetryAt" IS NULL AND j.type = k.type
                         AND ((-j.priority), j."tenantId") > (h.level, h.tenant)
                       ORDER BY (-j.priority), j."tenantId", coalesce(j."requeuedAt", j."queuedAt"), j.id LIMIT 1) n
           )
           SELECT h.level, h.tenant, h.since FROM head h LIMIT p_most) f
$$;
