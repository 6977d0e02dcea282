-- The claim. READ COMMITTED only: after a lock is taken, the count that it protects must see a fresh snapshot, so lock
-- and count are two statements.
--
-- Plans are generic: planning these statements anew costs ten times what running them does, and nothing in them depends on
-- the values. They are held to the streams' own order by the settings: statistics of a minute ago may say that nothing is
-- queued, and then sorting all that is queued looks as cheap as reading the first of it.
--
-- Order: priority, highest first; within a priority tenants take turns, from the one after `p_after` round to it; a
-- tenant's jobs by how long they wait. The index `job_claim` has a stream a type, so that jobs of types that are paused,
-- at their cap or unknown to this worker are never read, however many there are; `job_claim_project` has one a project,
-- read only while a project is paused.
--
-- `p_relief` in [0, 1): this claim begins at that share of the priorities present instead of at the highest, so that a
-- busy high priority cannot starve the others for ever; NULL: highest first.

DROP FUNCTION IF EXISTS detiq_claim(text, integer, text[], integer, jsonb, text);
DROP FUNCTION IF EXISTS detiq_claim(text, integer, text[], integer, jsonb, text, double precision);
DROP FUNCTION IF EXISTS detiq_claim_job(text, text, integer, jsonb);
DROP FUNCTION IF EXISTS detiq_claim_strict(text, integer, text[], integer, jsonb);
DROP FUNCTION IF EXISTS detiq_begin(text, text[]);
DROP FUNCTION IF EXISTS detiq_lane_open(text, text, integer);
DROP FUNCTION IF EXISTS detiq_next_level(text[], bigint);

CREATE OR REPLACE FUNCTION detiq_says(p_actor text, p_reason text, p_reasons jsonb DEFAULT NULL) RETURNS void
LANGUAGE sql AS $$
    SELECT set_config('detiq.actor', coalesce(p_actor, ''), true),
           set_config('detiq.reason', coalesce(p_reason, ''), true),
           set_config('detiq.reasons', coalesce(p_reasons::text, ''), true)
$$;

-- The next lower priority (negated) after `p_level` that has queued jobs of these types.
CREATE OR REPLACE FUNCTION detiq_next_level(p_types text[], p_level bigint, p_floor timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT min(h.level)
      FROM unnest(p_types) AS t (type)
     CROSS JOIN LATERAL (SELECT (-j.priority)::bigint AS level
                           FROM "PlatformJob" j
                          WHERE j.type = t.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                            AND (-j.priority) > p_level AND coalesce(j."requeuedAt", j."queuedAt") >= p_floor
                          ORDER BY (-j.priority)
                          LIMIT 1) h
$$;

-- The tenants without room, as the keys of an object.
CREATE OR REPLACE FUNCTION detiq_full(p_tenant_cap integer, p_custom boolean) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_object_agg(f.tenant, 1), '{}')
      FROM (SELECT c.tenant
              FROM (SELECT r."tenantId" AS tenant, count(*) AS running
                      FROM "PlatformJob" r
                     WHERE NOT r.inline AND r.status IN ('RUNNING', 'CANCEL_REQUESTED')
                     GROUP BY 1) c
             WHERE c.running >= CASE WHEN p_custom THEN coalesce(detiq_tenant_cap(c.tenant, p_tenant_cap), 2147483647)
                                     ELSE p_tenant_cap END
            UNION
            SELECT s.tenant_id
              FROM tenant_setting s
             WHERE p_custom AND detiq_tenant_cap(s.tenant_id, p_tenant_cap) = 0) f
$$;

-- From level `p_level` on, the first on which a tenant that is not in `p_full` and not paused has something queued: by lanes
-- in the order of levels, a look at an index each, one type after the other and none further than the best so far.
CREATE OR REPLACE FUNCTION detiq_next_open_level(p_types text[], p_level bigint, p_full jsonb, p_paused boolean)
RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    best_ bigint;
    type_ text;
BEGIN
    FOREACH type_ IN ARRAY p_types LOOP
        WITH RECURSIVE lane (level, tenant, open) AS (
            SELECT p_level - 1, NULL::text, false
            UNION ALL
            SELECT h.level, h.tenant,
                   NOT p_full ? h.tenant
                   AND NOT (p_paused AND EXISTS (SELECT 1
                                                   FROM queue_pause p
                                                  WHERE p.lifted_at IS NULL
                                                    AND (p.ends_at IS NULL OR p.ends_at > clock_timestamp())
                                                    AND p.project_id IS NULL
                                                    AND (p.type IS NULL OR p.type = type_)
                                                    AND (p.tenant_id IS NULL OR p.tenant_id = h.tenant)))
              FROM lane l
             CROSS JOIN LATERAL (
                   (SELECT (-j.priority)::bigint AS level, j."tenantId" AS tenant
                      FROM "PlatformJob" j
                     WHERE l.tenant IS NOT NULL
                       AND j.type = type_ AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                       AND (-j.priority) = l.level AND j."tenantId" > l.tenant
                     ORDER BY j."tenantId"
                     LIMIT 1)
                   UNION ALL
                   (SELECT (-j.priority)::bigint, j."tenantId"
                      FROM "PlatformJob" j
                     WHERE j.type = type_ AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL AND (-j.priority) > l.level
                     ORDER BY (-j.priority), j."tenantId"
                     LIMIT 1)
                   LIMIT 1) h
             WHERE NOT l.open AND (best_ IS NULL OR h.level < best_)
        )
        SELECT coalesce(min(l.level) FILTER (WHERE l.open), best_) INTO best_ FROM lane l;
    END LOOP;
    RETURN best_;
END
$$;

-- Has anybody but the tenants in `p_full` something queued on this level? A look between each of them and the next: an index
-- is read to the end of a page unless it is said where to stop, so that this takes a third of going from lane to lane.
CREATE OR REPLACE FUNCTION detiq_others_wait(p_types text[], p_level bigint, p_full jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    first_ text;
    last_  text;
BEGIN
    SELECT min(tenant), max(tenant) INTO first_, last_ FROM jsonb_object_keys(p_full) AS f (tenant);
    RETURN first_ IS NULL OR EXISTS (
        SELECT 1
          FROM (SELECT f.tenant AS until, lag(f.tenant) OVER (ORDER BY f.tenant) AS since
                  FROM jsonb_object_keys(p_full) AS f (tenant)) gap
         CROSS JOIN unnest(p_types) AS t (type)
         CROSS JOIN LATERAL (SELECT 1
                               FROM "PlatformJob" j
                              WHERE j.type = t.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                                AND (-j.priority) = p_level AND j."tenantId" > gap.since AND j."tenantId" < gap.until
                              LIMIT 1) h)
        OR EXISTS (
        SELECT 1
          FROM unnest(p_types) AS t (type)
         CROSS JOIN LATERAL (SELECT 1
                               FROM "PlatformJob" j
                              WHERE j.type = t.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                                AND (-j.priority) = p_level AND j."tenantId" < first_
                              LIMIT 1) h)
        OR EXISTS (
        SELECT 1
          FROM unnest(p_types) AS t (type)
         CROSS JOIN LATERAL (SELECT 1
                               FROM "PlatformJob" j
                              WHERE j.type = t.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                                AND (-j.priority) = p_level AND j."tenantId" > last_
                              LIMIT 1) h);
END
$$;

-- Claims up to `p_slots` jobs of `p_types` for a worker. A row without an id at the end says that another claimer held
-- a tenant or a type just then, so that looking again soon may find more.
CREATE OR REPLACE FUNCTION detiq_claim(
    p_worker text, p_slots integer, p_types text[], p_tenant_cap integer, p_type_caps jsonb, p_after text,
    p_relief double precision
)
RETURNS TABLE (job_id text, tenant_id text, project_id text, job_type text, job_name text, config text,
               checkpoint text, retry_count integer, lost_count integer, started_at timestamptz)
LANGUAGE plpgsql
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
SET jit = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_sort = off
SET enable_incremental_sort = off
SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    now_      timestamptz;
    room_     integer := p_slots;
    missed_   boolean := false;
    due_      timestamptz;
    floor_    timestamptz;  -- nothing older waits: see detiq_claim_floor
    all_      boolean;   -- is everything paused?
    paused_   boolean;   -- is anything paused?
    projects_ boolean;   -- is a project paused?
    custom_   boolean;   -- has any tenant a cap of its own?
    types_    text[];
    capped_   text[];    -- those of types_ that have a cap
    first_    bigint;    -- the highest priority, negated
    level_    bigint;    -- the priority, negated
    start_    bigint;
    round_    boolean := false;
    low_      text;
    high_     text;
    full_     jsonb;     -- tenants that have no room, once it pays to know them all
    tenants_  text[];
    held_     text[];
    lane_tenants_ text[];
    lane_types_   text[];
    seen_     integer;
    gained_   boolean;
    ended_    boolean;   -- has the ring been gone round?
    closed_   boolean := false;  -- could nobody start anything on the last level?
    want_     integer;   -- tenants still to be found for this batch
    ids_      text[];    -- the jobs picked
    more_tenants_      text[];
    more_lane_tenants_ text[];
    more_lane_types_   text[];
    busy_     text[];
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('detiq.gate', 0));
    IF p_slots < 1 THEN
        RETURN;
    END IF;
    now_ := clock_timestamp();

    -- What is in force, and whether rows that were queued for later have become due.
    SELECT count(*) > 0,
           coalesce(bool_or(p.project_id IS NOT NULL), false),
           coalesce(bool_or(coalesce(p.type, p.tenant_id, p.project_id) IS NULL), false)
           OR EXISTS (SELECT 1 FROM "SystemConfig" WHERE key = 'queue.paused' AND lower(btrim(value)) = 'true'),
           EXISTS (SELECT 1 FROM tenant_setting),
           (SELECT j."nextRetryAt"
              FROM "PlatformJob" j
             WHERE j.status = 'QUEUED' AND j."nextRetryAt" IS NOT NULL
             ORDER BY j."nextRetryAt"
             LIMIT 1),
           coalesce((SELECT d.grace_until FROM sweep_duty d
                      WHERE d.name = 'claim floor' AND d.looked_at > now_ - interval '60 s'), '-infinity')
      INTO paused_, projects_, all_, custom_, due_, floor_
      FROM queue_pause p
     WHERE p.lifted_at IS NULL AND (p.ends_at IS NULL OR p.ends_at > now_);
    IF all_ THEN
        RETURN;
    END IF;
    PERFORM set_config('detiq.actor', p_worker, true), set_config('detiq.reason', '', true),
            set_config('detiq.reasons', '', true);

    -- Those that are due join the streams.
    IF due_ <= now_ THEN
        UPDATE "PlatformJob"
           SET "nextRetryAt" = NULL
         WHERE id = ANY (ARRAY(SELECT id
                                 FROM "PlatformJob"
                                WHERE status = 'QUEUED' AND "nextRetryAt" IS NOT NULL AND "nextRetryAt" <= now_
                                ORDER BY "nextRetryAt"
                                LIMIT 100
                                  FOR UPDATE SKIP LOCKED));
    END IF;

    -- Types that have nothing queued, are paused for everybody or are at their cap are left out at once.
    SELECT array_agg(t.type ORDER BY t.type), array_agg(t.type) FILTER (WHERE t.cap IS NOT NULL), min(t.level)
      INTO types_, capped_, first_
      FROM (SELECT u.type, h.level, detiq_cap(s.cap, s.unlimited, s.ends_at, s.previous_cap, s.previous_unlimited, now_,
                                                (p_type_caps ->> u.type)::integer) AS cap
              FROM unnest(p_types) AS u (type)
             CROSS JOIN LATERAL (SELECT (-j.priority)::bigint AS level
                                   FROM "PlatformJob" j
                                  WHERE j.type = u.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                                    AND coalesce(j."requeuedAt", j."queuedAt") >= floor_
                                  ORDER BY j.type, (-j.priority)
                                  LIMIT 1) h
              LEFT JOIN type_setting s ON s.type = u.type) t
     WHERE NOT (paused_ AND EXISTS (SELECT 1
                                      FROM queue_pause p
                                     WHERE p.lifted_at IS NULL AND (p.ends_at IS NULL OR p.ends_at > now_)
                                       AND p.type = t.type AND p.tenant_id IS NULL AND p.project_id IS NULL))
       AND (t.cap IS NULL OR detiq_type_running(t.type) < t.cap);
    IF types_ IS NULL THEN
        RETURN;
    END IF;

    -- Where among the priorities to begin: at the highest, or, for relief, at any of the first 64 that are present.
    IF p_relief IS NOT NULL THEN
        WITH RECURSIVE step (level, n) AS (
            SELECT detiq_next_level(types_, -3000000000, floor_), 1
            UNION ALL
            SELECT detiq_next_level(types_, s.level, floor_), s.n + 1 FROM step s WHERE s.level IS NOT NULL AND s.n < 64
        )
        SELECT (array_agg(level ORDER BY level))[1 + floor(p_relief * count(*))::integer] INTO start_
          FROM step
         WHERE level IS NOT NULL;
    END IF;
    level_ := NULL;

    WHILE room_ > 0 LOOP
        level_ := CASE WHEN level_ IS NULL THEN coalesce(start_, first_) ELSE detiq_next_level(types_, level_, floor_) END;
        IF closed_ AND level_ IS NOT NULL THEN
            -- Nobody could start anything on the last one, and there may be thousands like it.
            full_ := coalesce(full_, detiq_full(p_tenant_cap, custom_));
            level_ := detiq_next_open_level(types_, level_, full_, paused_);
        END IF;
        IF level_ IS NULL AND start_ IS NOT NULL AND NOT round_ THEN
            round_ := true;
            level_ := first_;
        END IF;
        EXIT WHEN level_ IS NULL OR (round_ AND level_ >= start_);
        low_ := p_after;
        high_ := NULL;
        gained_ := false;
        closed_ := true;
        tenants_ := '{}';
        lane_tenants_ := '{}';
        lane_types_ := '{}';
        WHILE room_ > 0 LOOP
            want_ := room_ - cardinality(tenants_);
            -- The next tenants in the ring that may start something, each with the types it may start. A lane is what
            -- one tenant has queued of one type. Each lane costs a look at an index; when many tenants are full, it is
            -- cheaper to know them all beforehand.
            WITH RECURSIVE lane (type, tenant, open, found, seen) AS (
                SELECT t.type, h.tenant, false, 0, 0
                  FROM unnest(types_) AS t (type)
                 CROSS JOIN LATERAL (SELECT low_ AS tenant) h
                UNION ALL
                SELECT l.type, h.tenant, o.open, l.found + o.open::integer, l.seen + 1
                  FROM lane l
                 CROSS JOIN LATERAL (
                       (SELECT j."tenantId" AS tenant
                          FROM "PlatformJob" j
                         WHERE l.seen = 0 AND l.tenant = '' AND j.type = l.type AND j.status = 'QUEUED'
                           AND j."nextRetryAt" IS NULL AND (-j.priority) = level_ AND j."tenantId" = ''
                           AND coalesce(j."requeuedAt", j."queuedAt") >= floor_
                         LIMIT 1)
                       UNION ALL
                       (SELECT j."tenantId"
                          FROM "PlatformJob" j
                         WHERE j.type = l.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                           AND (-j.priority) = level_ AND j."tenantId" > l.tenant
                           AND coalesce(j."requeuedAt", j."queuedAt") >= floor_
                         ORDER BY j."tenantId"
                         LIMIT 1)
                       LIMIT 1) h
                 CROSS JOIN LATERAL (
                       SELECT CASE WHEN full_ IS NOT NULL THEN NOT full_ ? h.tenant
                                   ELSE (SELECT count(*)
                                           FROM "PlatformJob" r
                                          WHERE r."tenantId" = h.tenant AND NOT r.inline
                                            AND r.status IN ('RUNNING', 'CANCEL_REQUESTED'))
                                        < CASE WHEN custom_
                                               THEN coalesce(detiq_tenant_cap(h.tenant, p_tenant_cap), 2147483647)
                                               ELSE p_tenant_cap END
                              END
                              AND NOT (paused_ AND EXISTS (
                                  SELECT 1
                                    FROM queue_pause p
                                   WHERE p.lifted_at IS NULL AND (p.ends_at IS NULL OR p.ends_at > now_)
                                     AND p.project_id IS NULL
                                     AND (p.type IS NULL OR p.type = l.type)
                                     AND (p.tenant_id IS NULL OR p.tenant_id = h.tenant))) AS open) o
                 WHERE l.found < want_ AND (full_ IS NOT NULL OR l.seen < want_ + 24)
                   AND (high_ IS NULL OR h.tenant <= high_)
            )
            SELECT array_agg(l.tenant) FILTER (WHERE l.open), array_agg(l.type) FILTER (WHERE l.open), max(l.seen)
              INTO more_lane_tenants_, more_lane_types_, seen_
              FROM lane l;
            more_tenants_ := more_lane_tenants_;
            IF cardinality(types_) > 1 THEN
                -- A tenant may have a lane of each type, and each type gave as many tenants as are wanted: the first of them.
                SELECT array_agg(t.tenant ORDER BY t.tenant) INTO more_tenants_
                  FROM (SELECT DISTINCT l.tenant FROM unnest(more_lane_tenants_) AS l (tenant) ORDER BY 1 LIMIT want_) t;
                SELECT array_agg(l.tenant), array_agg(l.type) INTO more_lane_tenants_, more_lane_types_
                  FROM unnest(more_lane_tenants_, more_lane_types_) AS l (tenant, type)
                 WHERE l.tenant = ANY (more_tenants_);
            END IF;

            IF full_ IS NULL AND seen_ >= want_ + 24 AND coalesce(cardinality(more_tenants_), 0) < want_ THEN
                -- Many lanes and few that are open: learn who is full, then look again from here.
                full_ := detiq_full(p_tenant_cap, custom_);
                EXIT WHEN NOT detiq_others_wait(types_, level_, full_);
                CONTINUE;
            END IF;
            tenants_ := tenants_ || more_tenants_;
            lane_tenants_ := lane_tenants_ || more_lane_tenants_;
            lane_types_ := lane_types_ || more_lane_types_;

            -- From the ring's end on to its start, and to where this turn began, before anybody gets a second job.
            IF cardinality(tenants_) < room_ AND high_ IS NULL AND p_after <> '' THEN
                low_ := '';
                high_ := p_after;
                CONTINUE;
            END IF;
            ended_ := cardinality(tenants_) < room_;
            closed_ := closed_ AND cardinality(tenants_) = 0;

            IF cardinality(tenants_) > 0 THEN
                -- One claimer a tenant and a capped type at a time; whoever comes second goes on to the next.
                SELECT array_agg(t.tenant ORDER BY t.place) INTO held_
                  FROM unnest(tenants_) WITH ORDINALITY AS t (tenant, place)
                 WHERE (custom_ AND detiq_tenant_cap(t.tenant, p_tenant_cap) IS NULL)
                    OR pg_try_advisory_xact_lock(hashtextextended('detiq.tenant:' || t.tenant, 0));
                busy_ := NULL;
                IF capped_ IS NOT NULL THEN
                    SELECT array_agg(t.type) INTO busy_
                      FROM (SELECT DISTINCT type FROM unnest(lane_types_) AS l (type) WHERE l.type = ANY (capped_)) t
                     WHERE NOT pg_try_advisory_xact_lock(hashtextextended('detiq.type:' || t.type, 0));
                END IF;
                missed_ := missed_ OR cardinality(tenants_) > coalesce(cardinality(held_), 0) OR busy_ IS NOT NULL;
            ELSE
                held_ := NULL;
            END IF;

            ids_ := NULL;
            IF held_ IS NOT NULL AND NOT projects_ AND capped_ IS NULL AND cardinality(types_) = 1
               AND cardinality(held_) >= room_ THEN
                -- With the locks held, count again and pick. One job each of one type without a cap: most turns are this.
                SELECT array_agg(r.id) INTO ids_
                  FROM unnest(held_) AS h (tenant)
                 CROSS JOIN LATERAL (
                       SELECT j.id
                         FROM "PlatformJob" j
                        WHERE j.type = types_[1] AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                          AND (-j.priority) = level_ AND j."tenantId" = h.tenant
                          AND coalesce(j."requeuedAt", j."queuedAt") >= floor_
                          AND (SELECT count(*)
                                 FROM "PlatformJob" r
                                WHERE r."tenantId" = h.tenant AND NOT r.inline
                                  AND r.status IN ('RUNNING', 'CANCEL_REQUESTED'))
                              < CASE WHEN custom_ THEN coalesce(detiq_tenant_cap(h.tenant, p_tenant_cap), 2147483647)
                                     ELSE p_tenant_cap END
                        ORDER BY coalesce(j."requeuedAt", j."queuedAt"), j.id
                        LIMIT 1
                          FOR UPDATE SKIP LOCKED) r;
            ELSIF held_ IS NOT NULL AND NOT projects_ THEN
                -- Rows that somebody else has locked are passed over. Round by round: each tenant's first, then each
                -- tenant's second.
                WITH tenant AS MATERIALIZED (
                    SELECT h.tenant, h.place,
                           least(room_, CASE WHEN custom_ THEN coalesce(detiq_tenant_cap(h.tenant, p_tenant_cap), 2147483647)
                                             ELSE p_tenant_cap END
                                        - (SELECT count(*)
                                             FROM "PlatformJob" r
                                            WHERE r."tenantId" = h.tenant AND NOT r.inline
                                              AND r.status IN ('RUNNING', 'CANCEL_REQUESTED'))) AS room
                      FROM unnest(held_) WITH ORDINALITY AS h (tenant, place)
                ), type AS MATERIALIZED (
                    SELECT t.type,
                           CASE WHEN t.type = ANY (capped_)
                                THEN least(room_, detiq_type_cap(t.type, p_type_caps) - detiq_type_running(t.type))
                                ELSE room_ END AS room
                      FROM (SELECT DISTINCT l.type FROM unnest(lane_types_) AS l (type)) t
                     WHERE t.type <> ALL (coalesce(busy_, '{}'))
                ), share AS (
                    SELECT ceil(room_::numeric / cardinality(held_))::bigint AS share
                ), picked AS MATERIALIZED (
                    SELECT n.tenant, n.place, t.type, n.room AS tenant_room, t.room AS type_room, r.id, r.since
                      FROM unnest(lane_tenants_, lane_types_) AS l (tenant, type)
                      JOIN tenant n ON n.tenant = l.tenant
                      JOIN type t ON t.type = l.type
                     CROSS JOIN share s
                     CROSS JOIN LATERAL (
                           SELECT j.id, coalesce(j."requeuedAt", j."queuedAt") AS since
                             FROM "PlatformJob" j
                            WHERE j.type = l.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                              AND (-j.priority) = level_ AND j."tenantId" = l.tenant
                              AND coalesce(j."requeuedAt", j."queuedAt") >= floor_
                            ORDER BY coalesce(j."requeuedAt", j."queuedAt"), j.id
                            LIMIT greatest(0, least(n.room, t.room, s.share))
                              FOR UPDATE SKIP LOCKED) r
                ), ordered AS (
                    SELECT p.*, row_number() OVER (PARTITION BY p.tenant ORDER BY p.since, p.id) AS turn FROM picked p
                ), numbered AS (
                    SELECT o.*, row_number() OVER (PARTITION BY o.type ORDER BY o.turn, o.place) AS of_type
                      FROM ordered o
                     WHERE o.turn <= least(o.tenant_room, (SELECT s.share FROM share s))
                )
                SELECT array_agg(c.id) INTO ids_
                  FROM (SELECT n.id FROM numbered n WHERE n.of_type <= n.type_room ORDER BY n.turn, n.place LIMIT room_) c;
            ELSIF held_ IS NOT NULL THEN
                -- A project is paused: its tenant's other projects one by one, never the paused one's rows.
                WITH tenant AS MATERIALIZED (
                    SELECT h.tenant, h.place,
                           least(room_, CASE WHEN custom_ THEN coalesce(detiq_tenant_cap(h.tenant, p_tenant_cap), 2147483647)
                                             ELSE p_tenant_cap END
                                        - (SELECT count(*)
                                             FROM "PlatformJob" r
                                            WHERE r."tenantId" = h.tenant AND NOT r.inline
                                              AND r.status IN ('RUNNING', 'CANCEL_REQUESTED'))) AS room
                      FROM unnest(held_) WITH ORDINALITY AS h (tenant, place)
                ), type AS MATERIALIZED (
                    SELECT t.type,
                           CASE WHEN t.type = ANY (capped_)
                                THEN least(room_, detiq_type_cap(t.type, p_type_caps) - detiq_type_running(t.type))
                                ELSE room_ END AS room
                      FROM (SELECT DISTINCT l.type FROM unnest(lane_types_) AS l (type)) t
                     WHERE t.type <> ALL (coalesce(busy_, '{}'))
                ), share AS (
                    SELECT ceil(room_::numeric / cardinality(held_))::bigint AS share
                ), picked AS MATERIALIZED (
                    SELECT n.tenant, n.place, t.type, n.room AS tenant_room, t.room AS type_room, r.id, r.since
                      FROM unnest(lane_tenants_, lane_types_) AS l (tenant, type)
                      JOIN tenant n ON n.tenant = l.tenant
                      JOIN type t ON t.type = l.type
                     CROSS JOIN share s
                     CROSS JOIN LATERAL (
                           WITH RECURSIVE project (id, n) AS (
                               (SELECT coalesce(j."projectId", ''), 1
                                  FROM "PlatformJob" j
                                 WHERE j.type = l.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                                   AND (-j.priority) = level_ AND j."tenantId" = l.tenant
                                 ORDER BY coalesce(j."projectId", '')
                                 LIMIT 1)
                               UNION ALL
                               SELECT k.id, p.n + 1
                                 FROM project p
                                CROSS JOIN LATERAL (SELECT coalesce(j."projectId", '') AS id
                                                      FROM "PlatformJob" j
                                                     WHERE j.type = l.type AND j.status = 'QUEUED'
                                                       AND j."nextRetryAt" IS NULL AND (-j.priority) = level_
                                                       AND j."tenantId" = l.tenant
                                                       AND coalesce(j."projectId", '') > p.id
                                                     ORDER BY coalesce(j."projectId", '')
                                                     LIMIT 1) k
                           )
                           SELECT p.id
                             FROM project p
                            WHERE NOT EXISTS (SELECT 1
                                                FROM queue_pause q
                                               WHERE q.lifted_at IS NULL AND (q.ends_at IS NULL OR q.ends_at > now_)
                                                 AND q.project_id = nullif(p.id, '')
                                                 AND (q.type IS NULL OR q.type = l.type)
                                                 AND (q.tenant_id IS NULL OR q.tenant_id = l.tenant))) f
                     CROSS JOIN LATERAL (
                           SELECT j.id, coalesce(j."requeuedAt", j."queuedAt") AS since
                             FROM "PlatformJob" j
                            WHERE j.type = l.type AND j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                              AND (-j.priority) = level_ AND j."tenantId" = l.tenant
                              AND coalesce(j."projectId", '') = f.id
                            ORDER BY coalesce(j."requeuedAt", j."queuedAt"), j.id
                            LIMIT greatest(0, least(n.room, t.room, s.share))
                              FOR UPDATE SKIP LOCKED) r
                ), ordered AS (
                    SELECT p.*, row_number() OVER (PARTITION BY p.tenant ORDER BY p.since, p.id) AS turn FROM picked p
                ), numbered AS (
                    SELECT o.*, row_number() OVER (PARTITION BY o.type ORDER BY o.turn, o.place) AS of_type
                      FROM ordered o
                     WHERE o.turn <= least(o.tenant_room, (SELECT s.share FROM share s))
                )
                SELECT array_agg(c.id) INTO ids_
                  FROM (SELECT n.id FROM numbered n WHERE n.of_type <= n.type_room ORDER BY n.turn, n.place LIMIT room_) c;
            END IF;
            IF ids_ IS NOT NULL THEN
                -- The state is written so that no index knows it: the planner would read all that is queued by the index on
                -- states, when its statistics are of a time when nothing was.
                RETURN QUERY
                UPDATE "PlatformJob" j
                   SET status = 'RUNNING',
                       "startedAt" = clock_timestamp(),
                       "heartbeatAt" = clock_timestamp(),
                       "workerId" = p_worker,
                       inline = false,
                       "finishedAt" = NULL,
                       "nextRetryAt" = NULL,
                       "currentStep" = NULL,
                       progress = 0
                 WHERE j.id = ANY (ids_) AND j.status::text || '' = 'QUEUED'
                RETURNING j.id::text, j."tenantId"::text, j."projectId"::text, j.type::text, j.name::text, j.config::text,
                          j.checkpoint::text, j."retryCount", j."lostCount", j."startedAt"::timestamptz;
                room_ := room_ - cardinality(ids_);
                gained_ := true;
            END IF;

            -- On in the ring, or round again as long as a round gave something, before a lower priority gets anything.
            IF NOT ended_ THEN
                low_ := tenants_[cardinality(tenants_)];
            ELSIF gained_ THEN
                gained_ := false;
                low_ := p_after;
                high_ := NULL;
            ELSE
                EXIT;
            END IF;
            tenants_ := '{}';
            lane_tenants_ := '{}';
            lane_types_ := '{}';
        END LOOP;
    END LOOP;

    IF missed_ AND room_ > 0 THEN
        RETURN QUERY SELECT NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text,
                            NULL::integer, NULL::integer, NULL::timestamptz;
    END IF;
END
$$;

-- The source's order: priority, then `queuedAt`, then id, over all tenants; no turns. Pauses and caps hold as exactly. One
-- lock for all claimers, since an order over everything allows no two at once; the head of the queue is read row by row
-- along job_claim_strict, so that a backlog at its cap costs what it cost the source.
CREATE OR REPLACE FUNCTION detiq_claim_strict(
    p_worker text, p_slots integer, p_types text[], p_tenant_cap integer, p_type_caps jsonb
)
RETURNS TABLE (job_id text, tenant_id text, project_id text, job_type text, job_name text, config text,
               checkpoint text, retry_count integer, lost_count integer, started_at timestamptz)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_sort = off
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    room_    integer := p_slots;
    taken_   integer;
    round_   integer := 0;
    tenants_ text[];
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('detiq.gate', 0));
    IF p_slots < 1 OR detiq_all_paused() THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('detiq.strict', 0));
    PERFORM detiq_says(p_worker, NULL);
    WHILE room_ > 0 LOOP
        SELECT array_agg(DISTINCT c.tenant ORDER BY c.tenant) INTO tenants_
          FROM (SELECT tenant FROM detiq_strict_head(p_types, p_tenant_cap, p_type_caps, room_)) c;
        EXIT WHEN tenants_ IS NULL;
        -- Tenants before types, each in order: as `detiq_claim_job`, so that nobody waits in a circle. From the second round
        -- on types are held already: then a tenant whose lock is not free ends the claim instead of being waited for.
        IF round_ = 0 THEN
            PERFORM pg_advisory_xact_lock(hashtextextended('detiq.tenant:' || t.tenant, 0))
               FROM unnest(tenants_) AS t (tenant);
        ELSE
            EXIT WHEN NOT (SELECT bool_and(pg_try_advisory_xact_lock(hashtextextended('detiq.tenant:' || t.tenant, 0)))
                             FROM unnest(tenants_) AS t (tenant));
        END IF;
        round_ := round_ + 1;
        PERFORM pg_advisory_xact_lock(hashtextextended('detiq.type:' || t.type, 0))
           FROM (SELECT u.type FROM unnest(p_types) AS u (type)
                  WHERE detiq_type_cap(u.type, p_type_caps) IS NOT NULL ORDER BY u.type) t;
        RETURN QUERY
        WITH head AS MATERIALIZED (
            SELECT h.* FROM detiq_strict_head(p_types, p_tenant_cap, p_type_caps, room_) h
             WHERE h.tenant = ANY (tenants_)
        ), chosen AS MATERIALIZED (
            SELECT j.id
              FROM "PlatformJob" j
             WHERE j.id = ANY (ARRAY(SELECT h.id FROM head h)) AND j.status::text || '' = 'QUEUED'
               FOR UPDATE SKIP LOCKED
        )
        UPDATE "PlatformJob" j
           SET status = 'RUNNING',
               "startedAt" = clock_timestamp(),
               "heartbeatAt" = clock_timestamp(),
               "workerId" = p_worker,
               inline = false,
               "finishedAt" = NULL,
               "nextRetryAt" = NULL,
               "currentStep" = NULL,
               progress = 0
         WHERE j.id = ANY (ARRAY(SELECT c.id FROM chosen c))
        RETURNING j.id::text, j."tenantId"::text, j."projectId"::text, j.type::text, j.name::text, j.config::text,
                  j.checkpoint::text, j."retryCount", j."lostCount", j."startedAt"::timestamptz;
        GET DIAGNOSTICS taken_ = ROW_COUNT;
        room_ := room_ - taken_;
        EXIT WHEN taken_ = 0;
    END LOOP;
END
$$;

-- The first `p_limit` jobs in the source's order that may run, no more of a tenant or type than it has room for. What is
-- full or paused is known before the queue is read, so that a row that may not run costs little.
CREATE OR REPLACE FUNCTION detiq_strict_head(p_types text[], p_tenant_cap integer, p_type_caps jsonb, p_limit integer)
RETURNS TABLE (id text, tenant text)
LANGUAGE sql STABLE AS $$
    WITH closed AS MATERIALIZED (
        SELECT detiq_full(p_tenant_cap, true) AS tenants,
               ARRAY(SELECT u.type FROM unnest(p_types) AS u (type)
                      WHERE coalesce(detiq_type_running(u.type) < detiq_type_cap(u.type, p_type_caps), true)) AS types
    ), pause AS MATERIALIZED (
        SELECT type, tenant_id, project_id FROM queue_pause
         WHERE lifted_at IS NULL AND (ends_at IS NULL OR ends_at > clock_timestamp())
    ), head AS (
        SELECT j.id, j."tenantId" AS tenant, j.type, j.priority, j."queuedAt"
          FROM "PlatformJob" j
         WHERE j.status = 'QUEUED' AND (j."nextRetryAt" IS NULL OR j."nextRetryAt" <= clock_timestamp())
           AND j.type || '' = ANY (ARRAY(SELECT unnest(c.types) FROM closed c))
           AND NOT (SELECT c.tenants FROM closed c) ? j."tenantId"
           AND NOT EXISTS (SELECT 1 FROM pause p
                            WHERE (p.type IS NULL OR p.type = j.type)
                              AND (p.tenant_id IS NULL OR p.tenant_id = j."tenantId")
                              AND (p.project_id IS NULL OR p.project_id = j."projectId")
                           OFFSET 0)
         ORDER BY (-j.priority), j."queuedAt", j.id
         LIMIT p_limit
    ), ranked AS (
        SELECT h.*,
               row_number() OVER (PARTITION BY h.tenant ORDER BY (-h.priority), h."queuedAt", h.id) AS of_tenant,
               row_number() OVER (PARTITION BY h.type ORDER BY (-h.priority), h."queuedAt", h.id) AS of_type
          FROM head h
    )
    SELECT r.id, r.tenant
      FROM ranked r
     WHERE r.of_tenant <= coalesce(detiq_tenant_cap(r.tenant, p_tenant_cap) - detiq_tenant_running(r.tenant), r.of_tenant)
       AND r.of_type <= coalesce(detiq_type_cap(r.type, p_type_caps) - detiq_type_running(r.type), r.of_type)
$$;

-- Claims one given job under the same rules. No row: it may not run now.
CREATE OR REPLACE FUNCTION detiq_claim_job(
    p_worker text, p_job text, p_tenant_cap integer, p_type_caps jsonb
)
RETURNS TABLE (job_id text, tenant_id text, project_id text, job_type text, job_name text, config text,
               checkpoint text, retry_count integer, lost_count integer, started_at timestamptz)
LANGUAGE plpgsql
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    job_ record;
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

    RETURN QUERY
    WITH chosen AS MATERIALIZED (
        SELECT j.id
          FROM "PlatformJob" j
         WHERE j.id = p_job AND j.status::text || '' = 'QUEUED'
           AND (j."nextRetryAt" IS NULL OR j."nextRetryAt" <= clock_timestamp())
           AND j.type = job_.type AND j."tenantId" = job_.tenant
           AND NOT detiq_paused(j.type, j."tenantId", j."projectId")
           AND coalesce(detiq_tenant_running(j."tenantId") < detiq_tenant_cap(j."tenantId", p_tenant_cap), true)
           AND coalesce(detiq_type_running(j.type) < detiq_type_cap(j.type, p_type_caps), true)
           FOR UPDATE SKIP LOCKED
    )
    UPDATE "PlatformJob" j
       SET status = 'RUNNING',
           "startedAt" = clock_timestamp(),
           "heartbeatAt" = clock_timestamp(),
           "workerId" = p_worker,
           inline = false,
           "finishedAt" = NULL,
           "nextRetryAt" = NULL,
           "currentStep" = NULL,
           progress = 0
     WHERE j.id = ANY (ARRAY(SELECT c.id FROM chosen c))
    RETURNING j.id::text, j."tenantId"::text, j."projectId"::text, j.type::text, j.name::text, j.config::text,
              j.checkpoint::text, j."retryCount", j."lostCount", j."startedAt"::timestamptz;
END
$$;

-- Since when the longest waiting job waits, while many dead rows are not cleaned away: an old transaction holds them, and a claim
-- would read over all that were queued since it began. Claims pass over what is older, by the index alone. Null when that would
-- help nobody: with few dead rows, or with so many jobs waiting that a claim finds some at once. What joins the streams before
-- it is too old to count (60 s) is looked at, too. What is committed later than `p_late_seconds` after its own time waits for
-- the next look, which wakes the workers. Answers whether there is one now.
CREATE OR REPLACE FUNCTION detiq_claim_floor(p_least_dead bigint, p_most_queued integer, p_late_seconds double precision)
RETURNS boolean
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
DECLARE
    began_  timestamptz := clock_timestamp();  -- what is committed during a long look is not older than this
    before_ timestamptz := (SELECT grace_until FROM sweep_duty WHERE name = 'claim floor');
    floor_  timestamptz;
    queued_ bigint;
BEGIN
    IF coalesce((SELECT n_dead_tup >= p_least_dead FROM pg_stat_user_tables
                  WHERE relid = to_regclass('"PlatformJob"')), false) THEN
        SELECT count(*), least(min(q.since), began_ - make_interval(secs => p_late_seconds))
          INTO queued_, floor_
          FROM (SELECT coalesce(j."requeuedAt", j."queuedAt")::timestamptz AS since
                  FROM "PlatformJob" j
                 WHERE j.status = 'QUEUED' AND j."nextRetryAt" IS NULL
                 UNION ALL
                SELECT coalesce(j."requeuedAt", j."queuedAt")::timestamptz
                  FROM "PlatformJob" j
                 WHERE j.status = 'QUEUED' AND j."nextRetryAt" IS NOT NULL AND j."nextRetryAt" <= began_ + interval '90 s'
                 LIMIT p_most_queued + 1) q;
        floor_ := CASE WHEN queued_ <= p_most_queued THEN floor_ END;
    END IF;
    INSERT INTO sweep_duty AS d (name, looked_at, grace_until)
    SELECT 'claim floor', clock_timestamp(), floor_
     WHERE floor_ IS NOT NULL OR before_ IS NOT NULL
        ON CONFLICT (name) DO UPDATE SET looked_at = excluded.looked_at, grace_until = excluded.grace_until;
    IF before_ IS NOT NULL AND coalesce(floor_ < before_, true) THEN
        PERFORM pg_notify('detiq_jobs', '');  -- claims passed over something until now
    END IF;
    RETURN floor_ IS NOT NULL;
END
$$;
