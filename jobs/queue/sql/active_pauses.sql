-- What holds the queue now. The flag is a row of its own, without id, when no pause of ours explains it.
SELECT id, type, tenant_id, project_id, reason, owner, created_at AS since, ends_at
  FROM queue_pause
 WHERE lifted_at IS NULL AND (ends_at IS NULL OR ends_at > clock_timestamp())
UNION ALL
SELECT NULL, NULL, NULL, NULL, 'the flag queue.paused is set', 'another program', "updatedAt", NULL
  FROM "SystemConfig"
 WHERE key = 'queue.paused' AND lower(btrim(value)) = 'true'
   AND NOT EXISTS (SELECT 1
                     FROM queue_pause
                    WHERE lifted_at IS NULL AND type IS NULL AND tenant_id IS NULL AND project_id IS NULL)
 ORDER BY 7 DESC
