-- Caps whose end has passed, by the database's clock, go back to what they were, each once; a version more, so that a
-- form opened before is told. Claims have obeyed the end since it came. Each is audited in this same statement.
WITH tenants AS (
    SELECT tenant_id, cap, unlimited, ends_at FROM tenant_setting
     WHERE ends_at <= clock_timestamp() ORDER BY tenant_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
),
types AS (
    SELECT type, cap, unlimited, ends_at FROM type_setting
     WHERE ends_at <= clock_timestamp() ORDER BY type LIMIT %(limit)s FOR UPDATE SKIP LOCKED
),
ended_tenants AS (
    UPDATE tenant_setting s
       SET cap = s.previous_cap, unlimited = s.previous_unlimited, ends_at = NULL, previous_cap = NULL,
           previous_unlimited = false, version = s.version + 1, updated_at = clock_timestamp(), updated_by = %(actor)s
      FROM tenants t
     WHERE s.tenant_id = t.tenant_id
    RETURNING s.tenant_id, t.cap AS old_cap, t.unlimited AS old_unlimited, t.ends_at AS old_end, s.cap, s.unlimited
),
ended_types AS (
    UPDATE type_setting s
       SET cap = s.previous_cap, unlimited = s.previous_unlimited, ends_at = NULL, previous_cap = NULL,
           previous_unlimited = false, version = s.version + 1, updated_at = clock_timestamp(), updated_by = %(actor)s
      FROM types t
     WHERE s.type = t.type
    RETURNING s.type, t.cap AS old_cap, t.unlimited AS old_unlimited, t.ends_at AS old_end, s.cap, s.unlimited
),
ended AS (
    SELECT 'cap' AS action, 'tenant ' || tenant_id AS target, tenant_id, old_cap, old_unlimited, old_end, cap, unlimited
      FROM ended_tenants
     UNION ALL
    SELECT 'type_cap', 'type ' || type, NULL, old_cap, old_unlimited, old_end, cap, unlimited FROM ended_types
),
audited AS (
    INSERT INTO audit_entry (actor, action, target, tenant_id, reason, before, after)
    SELECT %(actor)s, action, left(target, 4000), left(tenant_id, 4000), 'its end has come',
           jsonb_build_object('cap', CASE WHEN old_unlimited THEN '"unlimited"' ELSE coalesce(to_jsonb(old_cap), '"default"') END,
                              'ends_at', old_end),
           jsonb_build_object('cap', CASE WHEN unlimited THEN '"unlimited"' ELSE coalesce(to_jsonb(cap), '"default"') END)
      FROM ended
)
SELECT target FROM ended
