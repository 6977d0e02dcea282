-- Puts right what cannot be true together and can be put right without guessing (`jobs.queue.consistency` says how).
-- The state stays what it is, but for a DLQ flag on a job that has not failed. An end without a time gets the time that
-- the history has for it. `job_impossible` finds the rows; live ones out of range are few; `thorough` looks at all.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, 'columns that could not be true together')),
target AS MATERIALIZED (
    SELECT j.id, j.status::text AS status
      FROM "PlatformJob" j
     WHERE j.id = ANY (ARRAY(
               SELECT id
                 FROM "PlatformJob"
                WHERE status = 'QUEUED' AND "workerId" IS NOT NULL
                   OR status IN ('QUEUED', 'RUNNING', 'CANCEL_REQUESTED', 'DONE', 'CANCELLED') AND dlq
                   OR status IN ('DONE', 'CANCELLED') AND "finishedAt" IS NULL
                   OR status = 'FAILED' AND dlq AND "nextRetryAt" IS NOT NULL
                LIMIT %(limit)s)
           || ARRAY(
               SELECT id
                 FROM "PlatformJob"
                WHERE (%(thorough)s OR status IN ('RUNNING', 'CANCEL_REQUESTED'))
                  AND (progress NOT BETWEEN 0 AND 100 OR "retryCount" < 0)
                LIMIT %(limit)s)
           || ARRAY(
               SELECT id
                 FROM "PlatformJob"
                WHERE status IN ('RUNNING', 'CANCEL_REQUESTED')
                  AND (coalesce("heartbeatAt", "startedAt", "queuedAt")
                           NOT BETWEEN '0001-01-02' AND clock_timestamp() + interval '1 minute'
                       OR "startedAt" NOT BETWEEN '0001-01-02' AND '9999-12-30')
                LIMIT %(limit)s))
       FOR UPDATE SKIP LOCKED
)
UPDATE "PlatformJob" j
   SET "workerId" = CASE WHEN j.status = 'QUEUED' THEN NULL ELSE j."workerId" END,
       dlq = j.dlq AND j.status IN ('FAILED', 'RETRY_WAIT'),
       "dlqAt" = CASE WHEN j.status IN ('FAILED', 'RETRY_WAIT') THEN j."dlqAt" END,
       "dlqReason" = CASE WHEN j.status IN ('FAILED', 'RETRY_WAIT') THEN j."dlqReason" END,
       "finishedAt" = CASE WHEN j.status IN ('DONE', 'CANCELLED')
                           THEN coalesce(j."finishedAt",
                                         (SELECT max(h.at) FROM job_history h WHERE h.job_id = j.id AND h.to_status = t.status),
                                         clock_timestamp())
                           ELSE j."finishedAt" END,
       "nextRetryAt" = CASE WHEN j.status = 'FAILED' AND j.dlq THEN NULL ELSE j."nextRetryAt" END,
       "heartbeatAt" = CASE WHEN j.status IN ('RUNNING', 'CANCEL_REQUESTED')
                                 AND coalesce(j."heartbeatAt", j."startedAt", j."queuedAt")
                                     NOT BETWEEN '0001-01-02' AND clock_timestamp() + interval '1 minute'
                            THEN clock_timestamp() ELSE j."heartbeatAt" END,
       "startedAt" = CASE WHEN j.status IN ('RUNNING', 'CANCEL_REQUESTED')
                               AND j."startedAt" NOT BETWEEN '0001-01-02' AND '9999-12-30'
                          THEN NULL ELSE j."startedAt" END,
       progress = least(greatest(j.progress, 0), 100),
       "retryCount" = greatest(j."retryCount", 0)
  FROM target t, said
 WHERE j.id = t.id
RETURNING j.id
