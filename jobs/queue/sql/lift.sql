-- Lifts one pause, or with no id every pause of everything. The flag goes down when nothing is left that pauses everything.
WITH lifted AS (
    UPDATE queue_pause
       SET lifted_at = clock_timestamp(), lifted_by = %(by)s, lift_reason = %(reason)s
     WHERE lifted_at IS NULL
       AND (id = %(id)s
            OR %(id)s::bigint IS NULL AND type IS NULL AND tenant_id IS NULL AND project_id IS NULL)
    RETURNING id, type, tenant_id, project_id
),
lowered AS (
    UPDATE "SystemConfig"
       SET value = 'false', "updatedAt" = clock_timestamp()
     WHERE key = 'queue.paused' AND lower(btrim(value)) = 'true'
       AND (%(id)s::bigint IS NULL
            OR EXISTS (SELECT 1 FROM lifted WHERE type IS NULL AND tenant_id IS NULL AND project_id IS NULL))
       AND NOT EXISTS (SELECT 1
                         FROM queue_pause p
                        WHERE p.lifted_at IS NULL AND (p.ends_at IS NULL OR p.ends_at > clock_timestamp())
                          AND p.type IS NULL AND p.tenant_id IS NULL AND p.project_id IS NULL
                          AND p.id NOT IN (SELECT id FROM lifted))
    RETURNING key
)
SELECT (SELECT count(*) FROM lifted) AS pauses, (SELECT count(*) FROM lowered) AS flags
