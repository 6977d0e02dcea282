-- Out of the DLQ, with a fresh retry budget, and no higher in the order than `priority` if one is given. The error stays in the history. A job whose unique key another active job
-- holds stays where it is; `holder` names that job. So does one that cannot go on from its checkpoint, as it was asked to; `obstacle` says why.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, %(reason)s)),
target AS MATERIALIZED (
    SELECT id, status::text AS status, dlq, "uniqueKey" AS unique_key, type, detiq_kept(checkpoint) AS kept,
           "checkpointVersion" AS version
      FROM "PlatformJob" WHERE id = ANY (%(ids)s) ORDER BY id FOR UPDATE
),
-- Asked once for each version, not for each job.
outdated AS MATERIALIZED (
    SELECT type, version, detiq_outdated(type, version) AS why
      FROM target WHERE %(keep_checkpoint)s AND kept AND version IS NOT NULL GROUP BY type, version
),
judged AS (
    SELECT t.*, o.why AS outdated,
           CASE WHEN NOT t.dlq OR t.status <> 'FAILED' OR NOT %(keep_checkpoint)s THEN NULL
                WHEN NOT t.kept AND %(must_resume)s THEN 'it has no checkpoint'
                WHEN NOT %(restart_outdated)s THEN o.why END AS obstacle,
           -- Of several dead letters with one key only the first may go.
           row_number() OVER (PARTITION BY coalesce(t.unique_key, t.id) ORDER BY t.id) AS nth,
           CASE WHEN t.unique_key IS NOT NULL THEN
               (SELECT o.id FROM "PlatformJob" o
                 WHERE o."uniqueKey" = t.unique_key AND o.id <> t.id
                   AND o.status IN ('QUEUED', 'RUNNING', 'RETRY_WAIT', 'CANCEL_REQUESTED')) END AS holder
      FROM target t LEFT JOIN outdated o ON t.kept AND (o.type, o.version) = (t.type, t.version)
),
moved AS (
    UPDATE "PlatformJob" j
       SET status = 'QUEUED', "requeuedAt" = clock_timestamp(),
           dlq = false, "dlqAt" = NULL, "dlqReason" = NULL,
           "retryCount" = 0, "redriveCount" = least(j."redriveCount"::bigint + 1, 2147483647), "lostCount" = 0,
           error = NULL, "failureType" = NULL, fingerprint = NULL,
           "workerId" = NULL, "heartbeatAt" = NULL, "startedAt" = NULL, "finishedAt" = NULL, "nextRetryAt" = NULL,
           priority = least(j.priority, coalesce(%(priority)s::integer, j.priority)),
           checkpoint = CASE WHEN %(keep_checkpoint)s AND t.outdated IS NULL THEN j.checkpoint END,
           "checkpointAt" = CASE WHEN %(keep_checkpoint)s AND t.outdated IS NULL THEN j."checkpointAt" END,
           "checkpointVersion" = CASE WHEN %(keep_checkpoint)s AND t.outdated IS NULL THEN j."checkpointVersion" END
      FROM judged t, said
     WHERE j.id = t.id AND t.status = 'FAILED' AND t.dlq AND t.holder IS NULL AND t.nth = 1 AND t.obstacle IS NULL
    RETURNING j.id, j.status::text AS status
)
SELECT t.id, t.status AS found, t.dlq AS found_dlq, m.status AS now_is, t.obstacle,
       coalesce(t.holder, CASE WHEN t.nth > 1 THEN first_value(t.id)
                OVER (PARTITION BY coalesce(t.unique_key, t.id) ORDER BY t.id) END) AS holder
  FROM judged t LEFT JOIN moved m ON m.id = t.id
