-- The gate: claims hold it shared; the commit of a pause or a cap holds it alone.

-- Called by the deferred triggers, so at the writer's commit. With the gate held alone no claim is under way: the moment
-- that is written down is exactly when the change came into force. `row` is what is in force from then on; NULL: gone.
CREATE OR REPLACE FUNCTION detiq_gate_changed() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    row_ jsonb := to_jsonb(CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END);
    key_ text := CASE TG_TABLE_NAME WHEN 'queue_pause' THEN row_ ->> 'id'
                                    WHEN 'tenant_setting' THEN row_ ->> 'tenant_id'
                                    WHEN 'type_setting' THEN row_ ->> 'type'
                                    ELSE row_ ->> 'key' END;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('detiq.gate', 0));
    IF TG_TABLE_NAME <> 'SystemConfig' OR key_ = 'queue.paused' THEN
        INSERT INTO gate_history (at, source, key, row)
        VALUES (clock_timestamp(), TG_TABLE_NAME, key_, CASE WHEN TG_OP <> 'DELETE' THEN row_ END);
    END IF;
    -- Whatever was lifted or raised may let a waiting job run.
    PERFORM pg_notify('detiq_jobs', '');
    PERFORM pg_notify('detiq_changed', '');
    RETURN NULL;
END
$$;

-- Is everything paused? By a pause without scope, or by the flag that other programs read and write.
CREATE OR REPLACE FUNCTION detiq_all_paused() RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM "SystemConfig" WHERE key = 'queue.paused' AND lower(btrim(value)) = 'true')
        OR EXISTS (SELECT 1
                     FROM queue_pause
                    WHERE lifted_at IS NULL AND (ends_at IS NULL OR ends_at > clock_timestamp())
                      AND type IS NULL AND tenant_id IS NULL AND project_id IS NULL)
$$;

-- Does a pause hold jobs of this type, tenant and project? A scope that a pause leaves open means all of them.
CREATE OR REPLACE FUNCTION detiq_paused(p_type text, p_tenant text, p_project text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1
                     FROM queue_pause
                    WHERE lifted_at IS NULL AND (ends_at IS NULL OR ends_at > clock_timestamp())
                      AND (type IS NULL OR type = p_type)
                      AND (tenant_id IS NULL OR tenant_id = p_tenant)
                      AND (project_id IS NULL OR project_id = p_project))
$$;

-- The cap that a row of tenant_setting or type_setting means at `p_now`, NULLs for no such row: NULL for unlimited.
CREATE OR REPLACE FUNCTION detiq_cap(
    p_cap integer, p_unlimited boolean, p_ends_at timestamptz, p_previous_cap integer, p_previous_unlimited boolean,
    p_now timestamptz, p_default integer
) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_ends_at <= p_now
                THEN CASE WHEN p_previous_unlimited THEN NULL ELSE coalesce(p_previous_cap, p_default) END
                WHEN p_unlimited THEN NULL
                ELSE coalesce(p_cap, p_default) END
$$;

-- How many jobs of a tenant may run at once: NULL for unlimited.
CREATE OR REPLACE FUNCTION detiq_tenant_cap(p_tenant text, p_default integer) RETURNS integer
LANGUAGE sql STABLE AS $$
    SELECT detiq_cap(s.cap, s.unlimited, s.ends_at, s.previous_cap, s.previous_unlimited, clock_timestamp(), p_default)
      FROM (SELECT 1) AS one
      LEFT JOIN tenant_setting s ON s.tenant_id = p_tenant
$$;

-- How many jobs of a type may run at once, over all tenants: NULL for unlimited. `p_defaults` maps a type to its cap.
CREATE OR REPLACE FUNCTION detiq_type_cap(p_type text, p_defaults jsonb) RETURNS integer
LANGUAGE sql STABLE AS $$
    SELECT detiq_cap(s.cap, s.unlimited, s.ends_at, s.previous_cap, s.previous_unlimited, clock_timestamp(),
                     (p_defaults ->> p_type)::integer)
      FROM (SELECT 1) AS one
      LEFT JOIN type_setting s ON s.type = p_type
$$;

CREATE OR REPLACE FUNCTION detiq_tenant_running(p_tenant text) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT count(*) FROM "PlatformJob"
     WHERE "tenantId" = p_tenant AND NOT inline AND status IN ('RUNNING', 'CANCEL_REQUESTED')
$$;

CREATE OR REPLACE FUNCTION detiq_type_running(p_type text) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT count(*) FROM "PlatformJob" WHERE type = p_type AND status IN ('RUNNING', 'CANCEL_REQUESTED') AND id >= ''
$$;
