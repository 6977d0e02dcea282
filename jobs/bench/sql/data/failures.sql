-- What failed, as the triggers would have written it; it is folded like theirs.
INSERT INTO failure_delta (at, fingerprint, type, failure_type, tenant_id, n, dead, started_at, job_id, sample)
SELECT max(at), fingerprint, type, failure_type, tenant_id, count(*), count(*) FILTER (WHERE to_dlq), max(run_started_at),
       max(job_id), max(left(detail ->> 'error', 1000))
  FROM job_history
 WHERE to_status IN ('RETRY_WAIT', 'FAILED') AND from_status = 'RUNNING'
 GROUP BY date_trunc('hour', at), fingerprint, type, failure_type, tenant_id
