-- A pause, and for a pause of everything the flag that other programs read, in one statement.
WITH paused AS (
    INSERT INTO queue_pause (type, tenant_id, project_id, reason, owner, ends_at)
    VALUES (%(type)s, %(tenant_id)s, %(project_id)s, %(reason)s, %(owner)s,
            clock_timestamp() + make_interval(secs => %(ends_in_seconds)s))
    RETURNING id, type, tenant_id, project_id
),
flagged AS (
    INSERT INTO "SystemConfig" (key, value, "updatedAt")
    SELECT 'queue.paused', 'true', clock_timestamp()
      FROM paused
     WHERE type IS NULL AND tenant_id IS NULL AND project_id IS NULL
    ON CONFLICT (key) DO UPDATE SET value = 'true', "updatedAt" = clock_timestamp()
)
SELECT id FROM paused
