-- Why isn't this job running? The claim's conditions, asked one by one. None is written a second time here: each answer is
-- that of the function the claim itself asks, and `eligible` says what `detiq_claim_job` would do. Nothing is locked, so
-- every answer is as of its snapshot.

-- What holds each lane: the jobs of one type, tenant and project. Answers come in the order of the arrays, by `lane`.
CREATE OR REPLACE FUNCTION detiq_lane_gates(
    p_types text[], p_tenants text[], p_projects text[], p_tenant_cap integer, p_type_caps jsonb
)
RETURNS TABLE (lane bigint, all_paused boolean, paused boolean, tenant_running bigint, tenant_cap integer,
               tenant_full boolean, type_running bigint, type_cap integer, type_full boolean)
LANGUAGE sql STABLE AS $$
    WITH lane AS MATERIALIZED (
        SELECT l.lane, l.type, l.tenant, l.project
          FROM unnest(p_types, p_tenants, p_projects) WITH ORDINALITY AS l (type, tenant, project, lane)
    ), everything AS MATERIALIZED (
        -- Without a pause of any kind no lane has to be asked.
        SELECT detiq_all_paused() AS paused, EXISTS (SELECT 1 FROM queue_pause WHERE lifted_at IS NULL) AS some
    ), tenant AS MATERIALIZED (
        SELECT t.tenant, detiq_tenant_running(t.tenant) AS running, detiq_tenant_cap(t.tenant, p_tenant_cap) AS cap
          FROM (SELECT DISTINCT l.tenant FROM lane l) t
    ), type AS MATERIALIZED (
        SELECT t.type, detiq_type_running(t.type) AS running, detiq_type_cap(t.type, p_type_caps) AS cap
          FROM (SELECT DISTINCT l.type FROM lane l) t
    )
    SELECT l.lane, e.paused, e.some AND detiq_paused(l.type, l.tenant, l.project),
           t.running, t.cap, NOT coalesce(t.running < t.cap, true),
           y.running, y.cap, NOT coalesce(y.running < y.cap, true)
      FROM lane l
     CROSS JOIN everything e
      JOIN tenant t ON t.tenant = l.tenant
      JOIN type y ON y.type = l.type
$$;

-- The gates of single jobs. A job that is not there has no row.
CREATE OR REPLACE FUNCTION detiq_explain(p_ids text[], p_tenant_cap integer, p_type_caps jsonb)
RETURNS TABLE (job_id text, type text, status text, due_at timestamptz, not_due boolean, all_paused boolean, paused boolean,
               tenant_running bigint, tenant_cap integer, tenant_full boolean,
               type_running bigint, type_cap integer, type_full boolean, eligible boolean)
LANGUAGE sql STABLE AS $$
    WITH job AS MATERIALIZED (
        SELECT row_number() OVER () AS lane, j.id, j.status::text AS status, j.type::text AS type,
               j."tenantId"::text AS tenant, j."projectId"::text AS project,
               j."nextRetryAt"::timestamptz AS due_at,
               NOT (j."nextRetryAt" IS NULL OR j."nextRetryAt" <= clock_timestamp()) AS not_due
          FROM "PlatformJob" j
         WHERE j.id = ANY (p_ids)
    ), lanes AS MATERIALIZED (
        SELECT array_agg(type ORDER BY lane) AS types, array_agg(tenant ORDER BY lane) AS tenants,
               array_agg(project ORDER BY lane) AS projects
          FROM job
    )
    SELECT j.id::text, j.type, j.status, j.due_at, j.not_due, g.all_paused, g.paused, g.tenant_running, g.tenant_cap, g.tenant_full,
           g.type_running, g.type_cap, g.type_full,
           j.status = 'QUEUED' AND NOT (g.all_paused OR j.not_due OR g.paused OR g.tenant_full OR g.type_full)
      FROM lanes l
     CROSS JOIN LATERAL detiq_lane_gates(l.types, l.tenants, l.projects, p_tenant_cap, p_type_caps) g
      JOIN job j ON j.lane = g.lane
$$;
