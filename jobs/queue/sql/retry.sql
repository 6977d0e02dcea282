-- Out of the DLQ, with a fresh retry budget, and no higher in the order than `priority` if one is given. The error stays in the history. A job whose unique key another active job
-- holds stays where it is; `holder` names that job.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, %(reason)s)),
target AS MATERIALIZED (
    SELECT id, status::text AS status, dlq, "uniqueKey" AS unique_key
      FROM "PlatformJob" WHERE id = ANY (%(ids)s) ORDER BY id FOR UPDATE
),
judged AS (
    SELECT t.*,
           -- Of several dead letters with one key only the first may go.
           row_number() OVER (PARTITION BY coalesce(t.unique_key, t.id) ORDER BY t.id) AS nth,
           CASE WHEN t.unique_key IS NOT NULL THEN
               (SELECT o.id FROM "PlatformJob" o
                 WHERE o."uniqueKey" = t.unique_key AND o.id <> t.id
                   AND o.status IN ('QUEUED', 'RUNNING', 'RETRY_WAIT', 'CANCEL_REQUESTED')) END AS holder
      FROM target t
),
moved AS (
    UPDATE "PlatformJob" j
       SET status = 'QUEUED', "requeuedAt" = clock_timestamp(),
           dlq = false, "dlqAt" = NULL, "dlqReason" = NULL,
           "retryCount" = 0, "redriveCount" = least(j."redriveCount"::bigint + 1, 2147483647), "lostCount" = 0,
           error = NULL, "failureType" = NULL, fingerprint = NULL,
           "workerId" = NULL, "heartbeatAt" = NULL, "startedAt" = NULL, "finishedAt" = NULL, "nextRetryAt" = NULL,
           priority = least(j.priority, coalesce(%(priority)s::integer, j.priority)),
           checkpoint = CASE WHEN %(keep_checkpoint)s THEN j.checkpoint END,
           "checkpointAt" = CASE WHEN %(keep_checkpoint)s THEN j."checkpointAt" END
      FROM judged t, said
     WHERE j.id = t.id AND t.status = 'FAILED' AND t.dlq AND t.holder IS NULL AND t.nth = 1
    RETURNING j.id, j.status::text AS status
)
SELECT t.id, t.status AS found, t.dlq AS found_dlq, m.status AS now_is,
       coalesce(t.holder, CASE WHEN t.nth > 1 THEN first_value(t.id)
                OVER (PARTITION BY coalesce(t.unique_key, t.id) ORDER BY t.id) END) AS holder
  FROM judged t LEFT JOIN moved m ON m.id = t.id
