-- The claim. READ COMMITTED only: after a lock is taken, the count that it protects must see a fresh snapshot, so lock
-- and count are two statements.
--
-- Order: priority, highest first; within a priority tenants take turns, from the one after `p_after` round to it; a
-- tenant's jobs by how long they wait. The index `job_claim` has a stream a type, so that jobs of types that are paused,
-- at their cap or unknown to this worker are never read, however many there are.

-- Makes the given rows RUNNING. The caller has locked them and checked every rule.
CREATE OR REPLACE FUNCTION detiq_begin(p_worker text, p_ids text[])
RETURNS TABLE (job_id text, tenant_id text, project_id text, job_type text, job_name text, config text,
               checkpoint text, retry_count integer, started_at timestamptz)
LANGUAGE sql
SET enable_seqscan = off
AS $$
    UPDATE "PlatformJob"
       SET status = 'RUNNING',
           "startedAt" = clock_timestamp(),
           "heartbeatAt" = clock_timestamp(),
           "workerId" = p_worker,
           inline = false,
           "finishedAt" = NULL,
           "nextRetryAt" = NULL,
           "currentStep" = NULL,
           progress = 0
     WHERE id = ANY (p_ids) AND status = 'QUEUED'
    RETURNING id, "tenantId", "projectId", type, name, config::text,
              checkpoint::text, "retryCount", "startedAt"
$$;

CREATE OR REPLACE FUNCTION detiq_says(p_actor text, p_reason text, p_reasons jsonb DEFAULT NULL) RETURNS void
LANGUAGE sql AS $$
    SELECT set_config('detiq.actor', coalesce(p_actor, ''), true),
           set_config('detiq.reason', coalesce(p_reason, ''), true),
           set_config('detiq.reasons', coalesce(p_reasons::text, ''), true)
$$;

-- May this tenant's jobs of this type run, as far as can be seen without a lock? Pauses of projects are looked at row by row.
CREATE OR REPLACE FUNCTION detiq_lane_open(p_type text, p_tenant text, p_tenant_cap integer) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT 1
                         FROM queue_pause
                        WHERE lifted_at IS NULL AND (ends_at IS NULL OR ends_at > clock_timestamp())
                          AND project_id IS NULL
                          AND (type IS NULL OR type = p_type)
                          AND (tenant_id IS NULL OR tenant_id = p_tenant))
       AND coalesce(detiq_tenant_running(p_tenant) < detiq_tenant_cap(p_tenant, p_tenant_cap), true)
$$;

-- Claims up to `p_slots` jobs of `p_types` for a worker. A row without an id at the end says that another claimer held
-- a tenant or a type just then, so that looking again soon may find more.
CREATE OR REPLACE FUNCTION detiq_claim(
    p_worker text, p_slots integer, p_types text[], p_tenant_cap integer, p_type_caps jsonb, p_after text
)
RETURNS TABLE (job_id text, tenant_id text, project_id text, job_type text, job_name text, config text,
               checkpoint text, retry_count integer, started_at timestamptz)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    now_     timestamptz;
    room_    integer := p_slots;
    taken_   integer;
    missed_  boolean := false;
    types_   text[];
    level_   bigint := -3000000000;
    low_     text;
    high_    text;
    tenants_ text[];
    held_    text[];
    lane_tenants_ text[];
    lane_types_   text[];
    capped_  text[];
    ids_     text[];
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('detiq.gate', 0));
    IF p_slots < 1 OR detiq_all_paused() THEN
        RETURN;
    END IF;
    PERFORM detiq_says(p_worker, NULL);
    now_ := clock_timestamp();

    -- Rows that were queued for later and have become due join the streams.
    IF EXISTS (SELECT 1 FROM (SELECT "nextRetryAt" AS due
                                FROM "PlatformJob"
                               WHERE status = 'QUEUED' AND "nextRetryAt" IS NOT NULL
                               ORDER BY "nextRetryAt"
                               LIMIT 1) AS first WHERE first.due <= now_) THEN
        UPDATE "PlatformJob"
           SET "nextRetryAt" = NULL
         WHERE id = ANY (ARRAY(SELECT id
                                 FROM "PlatformJob"
                                WHERE status = 'QUEUED' AND "nextRetryAt" IS NOT NULL AND "nextRetryAt" <= now_
                                ORDER BY "nextRetryAt"
                                LIMIT 100
                                  FOR UPDATE SKIP LOCKED));
    END IF;

    -- Types that are paused for everybody or at their cap are left out at once.
    SELECT array_agg(t.type) INTO types_
      FROM unnest(p_types) AS t (type)
     WHERE NOT EXISTS (SELECT 1
                         FROM queue_pause p
                        WHERE p.lifted_at IS NULL AND (p.ends_at IS NULL OR p.ends_at > now_)
                          AND p.type = t.type AND p.tenant_id IS NULL AND p.project_id IS NULL)
       AND coalesce(detiq_type_cap(t.type, p_type_caps) > detiq_type_running(t.type), true);

    WHILE room_ > 0 LOOP
        -- The next priority that has a job of these types.
        SELECT min(h.level) INTO level_
          FROM unnest(types_) AS t (type)
         CROSS JOIN LATERAL (SELECT (-j.priority) AS level
                               FROM "PlatformJob" j
                              WHERE j.type = t.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                                AND (-j.priority) > level_
                              ORDER BY (-j.priority)
                              LIMIT 1) h;
        EXIT WHEN level_ IS NULL;

        low_ := p_after;
        high_ := NULL;
        WHILE room_ > 0 LOOP
            -- The next tenants in the ring that may start something, each with the types it may start.
            WITH RECURSIVE lane (type, tenant, open, found) AS (
                SELECT t.type, h.tenant, o.open, o.open::integer
                  FROM unnest(types_) AS t (type)
                 CROSS JOIN LATERAL (
                       (SELECT j."tenantId" AS tenant
                          FROM "PlatformJob" j
                         WHERE low_ = '' AND j.type = t.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                           AND (-j.priority) = level_ AND j."tenantId" = ''
                         LIMIT 1)
                       UNION ALL
                       (SELECT j."tenantId"
                          FROM "PlatformJob" j
                         WHERE j.type = t.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                           AND (-j.priority) = level_ AND j."tenantId" > low_
                         ORDER BY j."tenantId"
                         LIMIT 1)
                       LIMIT 1) h
                 CROSS JOIN LATERAL (SELECT detiq_lane_open(t.type, h.tenant, p_tenant_cap) AS open) o
                 WHERE high_ IS NULL OR h.tenant <= high_
                UNION ALL
                SELECT l.type, h.tenant, o.open, l.found + o.open::integer
                  FROM lane l
                 CROSS JOIN LATERAL (SELECT j."tenantId" AS tenant
                                       FROM "PlatformJob" j
                                      WHERE j.type = l.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                                        AND (-j.priority) = level_ AND j."tenantId" > l.tenant
                                      ORDER BY j."tenantId"
                                      LIMIT 1) h
                 CROSS JOIN LATERAL (SELECT detiq_lane_open(l.type, h.tenant, p_tenant_cap) AS open) o
                 WHERE l.found < room_ AND (high_ IS NULL OR h.tenant <= high_)
            ), turn AS (
                SELECT DISTINCT tenant FROM lane WHERE open ORDER BY tenant LIMIT room_
            )
            SELECT array_agg(l.tenant), array_agg(l.type), (SELECT array_agg(tenant ORDER BY tenant) FROM turn)
              INTO lane_tenants_, lane_types_, tenants_
              FROM lane l
             WHERE l.open AND l.tenant IN (SELECT tenant FROM turn);

            IF tenants_ IS NOT NULL THEN
                -- One claimer a tenant and a capped type at a time; whoever comes second goes on to the next.
                SELECT array_agg(t.tenant ORDER BY t.place) INTO held_
                  FROM unnest(tenants_) WITH ORDINALITY AS t (tenant, place)
                 WHERE detiq_tenant_cap(t.tenant, p_tenant_cap) IS NULL
                    OR pg_try_advisory_xact_lock(hashtextextended('detiq.tenant:' || t.tenant, 0));
                SELECT array_agg(t.type) INTO capped_
                  FROM (SELECT DISTINCT type FROM unnest(lane_types_) AS l (type)) t
                 WHERE detiq_type_cap(t.type, p_type_caps) IS NOT NULL
                   AND NOT pg_try_advisory_xact_lock(hashtextextended('detiq.type:' || t.type, 0));
                missed_ := missed_ OR cardinality(tenants_) > coalesce(cardinality(held_), 0) OR capped_ IS NOT NULL;

                -- With the locks held, count again and pick. Rows that somebody else has locked are passed over.
                WITH lane AS MATERIALIZED (
                    SELECT h.tenant, h.place, l.type,
                           least(coalesce(detiq_tenant_cap(h.tenant, p_tenant_cap) - detiq_tenant_running(h.tenant), room_),
                                 room_) AS tenant_room,
                           least(coalesce(detiq_type_cap(l.type, p_type_caps) - detiq_type_running(l.type), room_),
                                 room_) AS type_room
                      FROM unnest(held_) WITH ORDINALITY AS h (tenant, place)
                      JOIN unnest(lane_tenants_, lane_types_) AS l (tenant, type) ON l.tenant = h.tenant
                     WHERE l.type <> ALL (coalesce(capped_, '{}'))
                ), share AS (
                    SELECT greatest(1, ceil(room_::numeric / greatest(cardinality(held_), 1)))::bigint AS share
                ), picked AS MATERIALIZED (
                    SELECT l.tenant, l.place, l.type, l.tenant_room, l.type_room, r.id, r.since
                      FROM lane l
                     CROSS JOIN share s
                     CROSS JOIN LATERAL (
                           SELECT j.id, coalesce(j."requeuedAt", j."queuedAt") AS since
                             FROM "PlatformJob" j
                            WHERE j.type = l.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                              AND (-j.priority) = level_ AND j."tenantId" = l.tenant
                              AND NOT (j."projectId" IS NOT NULL AND detiq_paused(j.type, j."tenantId", j."projectId"))
                            ORDER BY coalesce(j."requeuedAt", j."queuedAt"), j.id
                            LIMIT greatest(0, least(l.tenant_room, l.type_room, s.share))
                              FOR UPDATE SKIP LOCKED) r
                ), ordered AS (
                    SELECT p.*, row_number() OVER (PARTITION BY p.tenant ORDER BY p.since, p.id) AS turn FROM picked p
                ), numbered AS (
                    SELECT o.*, row_number() OVER (PARTITION BY o.type ORDER BY o.turn, o.place) AS of_type
                      FROM ordered o
                     WHERE o.turn <= o.tenant_room
                )
                SELECT array_agg(c.id ORDER BY c.turn, c.place) INTO ids_
                  FROM (SELECT n.id, n.turn, n.place
                          FROM numbered n
                         WHERE n.of_type <= n.type_room
                         ORDER BY n.turn, n.place
                         LIMIT room_) c;

                IF ids_ IS NOT NULL THEN
                    RETURN QUERY SELECT * FROM detiq_begin(p_worker, ids_);
                    GET DIAGNOSTICS taken_ = ROW_COUNT;
                    room_ := room_ - taken_;
                END IF;
            END IF;

            -- Round the ring: on to its end, then from its start to where this turn began. A tenant that was alone in
            -- its batch is asked again until it gives nothing more.
            IF tenants_ IS NULL OR cardinality(tenants_) < room_ THEN
                EXIT WHEN high_ IS NOT NULL OR p_after = '';
                low_ := '';
                high_ := p_after;
            ELSE
                low_ := tenants_[cardinality(tenants_)];
            END IF;
        END LOOP;
    END LOOP;

    IF missed_ AND room_ > 0 THEN
        RETURN QUERY SELECT NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text,
                            NULL::integer, NULL::timestamptz;
    END IF;
END
$$;

-- Claims one given job under the same rules. No row: it may not run now.
CREATE OR REPLACE FUNCTION detiq_claim_job(
    p_worker text, p_job text, p_tenant_cap integer, p_type_caps jsonb
)
RETURNS TABLE (job_id text, tenant_id text, project_id text, job_type text, job_name text, config text,
               checkpoint text, retry_count integer, started_at timestamptz)
LANGUAGE plpgsql
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    job_ record;
    ids_ text[];
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('detiq.gate', 0));
    SELECT type, "tenantId" AS tenant INTO job_ FROM "PlatformJob" WHERE id = p_job;
    IF NOT FOUND OR detiq_all_paused() THEN
        RETURN;
    END IF;
    PERFORM detiq_says(p_worker, NULL);
    -- Always the tenant's lock before the type's, so that two of these cannot wait for each other.
    PERFORM pg_advisory_xact_lock(hashtextextended('detiq.tenant:' || job_.tenant, 0));
    IF detiq_type_cap(job_.type, p_type_caps) IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('detiq.type:' || job_.type, 0));
    END IF;

    SELECT array_agg(c.id) INTO ids_
      FROM (SELECT j.id
              FROM "PlatformJob" j
             WHERE j.id = p_job AND j.status = 'QUEUED'
               AND (j."nextRetryAt" IS NULL OR j."nextRetryAt" <= clock_timestamp())
               AND j.type = job_.type AND j."tenantId" = job_.tenant
               AND NOT detiq_paused(j.type, j."tenantId", j."projectId")
               AND coalesce(detiq_tenant_running(j."tenantId") < detiq_tenant_cap(j."tenantId", p_tenant_cap), true)
               AND coalesce(detiq_type_running(j.type) < detiq_type_cap(j.type, p_type_caps), true)
               FOR UPDATE SKIP LOCKED) c;
    IF ids_ IS NOT NULL THEN
        RETURN QUERY SELECT * FROM detiq_begin(p_worker, ids_);
    END IF;
END
$$;
