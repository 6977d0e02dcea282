-- When a pause of all or of a type last ended: before that nothing could be done. NULL type: of all.
SELECT type, max(coalesce(lifted_at, ends_at)) AS at
  FROM queue_pause
 WHERE tenant_id IS NULL AND project_id IS NULL AND coalesce(lifted_at, ends_at) > %(since)s
   AND (lifted_at IS NOT NULL OR ends_at <= %(now)s)
 GROUP BY 1
