-- Jobs that should have moved on by now: what the sweep has left lying for longer than `slack_seconds`.
WITH now AS (SELECT clock_timestamp() - make_interval(secs => %(slack_seconds)s) AS t)
SELECT j.id AS job_id, detiq_state(j.status::text, j.dlq) AS state, r.why, r.since
  FROM "PlatformJob" j
 CROSS JOIN now
 CROSS JOIN LATERAL (
       SELECT CASE
              WHEN j.status = 'RETRY_WAIT' AND j.dlq THEN 'waits and is dead-lettered at once'
              WHEN j.status = 'RETRY_WAIT' AND coalesce(j."nextRetryAt", '-infinity') < now.t THEN 'its retry is overdue'
              WHEN j.status = 'CANCEL_REQUESTED' AND j."workerId" IS NULL AND NOT j.inline THEN 'no worker can cancel it'
              WHEN j.status IN ('RUNNING', 'CANCEL_REQUESTED')
                   AND NOT EXISTS (SELECT 1 FROM sweep_duty WHERE name = 'rescue' AND grace_until > now.t)
                   AND coalesce(j."heartbeatAt", j."startedAt", j."queuedAt")
                       < now.t - make_interval(secs => %(stale_seconds)s) THEN 'its worker is silent'
              WHEN j.status = 'FAILED' AND NOT j.dlq AND coalesce(j."nextRetryAt", '-infinity') < now.t
                   AND NOT EXISTS (SELECT 1 FROM "PlatformJob" o
                                    WHERE o."uniqueKey" = j."uniqueKey" AND o.id <> j.id AND NOT o.dlq
                                      AND o.status IN ('FAILED', 'QUEUED', 'RUNNING', 'RETRY_WAIT', 'CANCEL_REQUESTED'))
              THEN 'failed, and nobody has decided it'
              END AS why,
              CASE WHEN j.status IN ('RUNNING', 'CANCEL_REQUESTED')
                   THEN coalesce(j."heartbeatAt", j."startedAt", j."queuedAt")
                   ELSE coalesce(j."nextRetryAt", j."finishedAt",
                                 (SELECT max(h.at) FROM job_history h WHERE h.job_id = j.id), j."queuedAt") END AS since) r
 WHERE j.status IN ('RUNNING', 'CANCEL_REQUESTED', 'RETRY_WAIT', 'FAILED') AND r.why IS NOT NULL AND r.since < now.t
 LIMIT 1000
