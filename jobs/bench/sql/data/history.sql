INSERT INTO job_history (job_id, tenant_id, type, from_status, from_dlq, to_status, to_dlq, at, actor, worker_id,
                         run_started_at, retry_count, failure_type, fingerprint, detail)
SELECT id, tenant, type, source, CASE WHEN source IS NOT NULL THEN false END, target, target = 'FAILED', at,
       CASE WHEN source IS NULL OR target = 'CANCELLED' THEN 'user:api' WHEN source = 'RETRY_WAIT' THEN 'sweep'
            ELSE 'bench-host:1:00000001' END,
       CASE WHEN started IS NOT NULL AND source <> 'RETRY_WAIT' THEN 'bench-host:1:00000001' END,
       started, attempt, failure_type, fingerprint,
       CASE WHEN error IS NOT NULL THEN jsonb_build_object('error', error) END
  FROM bench_move
 ORDER BY at
