-- Pauses whose end has passed, by the database's clock; each once. The flag goes down with the last that set it.
WITH ended AS (
    UPDATE queue_pause
       SET lifted_at = ends_at, lifted_by = %(actor)s, lift_reason = 'its end has come'
     WHERE id = ANY (ARRAY(SELECT id FROM queue_pause
                            WHERE lifted_at IS NULL AND ends_at <= clock_timestamp()
                            ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING id, type, tenant_id, project_id
),
lowered AS (
    UPDATE "SystemConfig"
       SET value = 'false', "updatedAt" = clock_timestamp()
     WHERE key = 'queue.paused' AND lower(btrim(value)) = 'true'
       AND EXISTS (SELECT 1 FROM ended WHERE type IS NULL AND tenant_id IS NULL AND project_id IS NULL)
       AND NOT EXISTS (SELECT 1
                         FROM queue_pause p
                        WHERE p.lifted_at IS NULL AND (p.ends_at IS NULL OR p.ends_at > clock_timestamp())
                          AND p.type IS NULL AND p.tenant_id IS NULL AND p.project_id IS NULL
                          AND p.id NOT IN (SELECT id FROM ended))
)
SELECT id FROM ended
