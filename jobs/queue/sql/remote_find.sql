-- A run as a callback finds it: whose secret signs, whether the job is still in this run, and what its job shows now.
SELECT r.id, r.job_id, r.type, r.worker, r.started_at, r.log_lines, r.end_digest,
       r.deadline_at < clock_timestamp() - make_interval(secs => %(grace)s) AS overdue,
       t.secret, t.previous_secret, coalesce(t.previous_until > clock_timestamp(), false) AS overlaps,
       j.status::text AS status, j.progress, j."currentStep" AS step, j."retryCount" AS retry_count,
       coalesce(j.status IN ('RUNNING', 'CANCEL_REQUESTED') AND j."workerId" = r.worker AND detiq_same_start(j."startedAt", r.started_at),
                false) AS ours,
       clock_timestamp() AS now
  FROM remote_run r
  LEFT JOIN remote_type t ON t.type = r.type
  LEFT JOIN "PlatformJob" j ON j.id = r.job_id
 WHERE r.id = %(id)s
