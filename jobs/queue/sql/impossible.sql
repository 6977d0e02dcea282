-- Rows whose columns cannot be true together, each with what is wrong with it. Reads the whole table: for people, not for
-- the sweep.
SELECT id, status::text AS status, dlq, wrong
  FROM (SELECT id, status, dlq, array_remove(ARRAY[
               CASE WHEN status = 'QUEUED' AND "workerId" IS NOT NULL THEN 'queued_with_worker' END,
               CASE WHEN status IN ('RUNNING', 'CANCEL_REQUESTED') AND NOT inline AND "workerId" IS NULL
                    THEN 'running_without_worker' END,
               CASE WHEN status IN ('RUNNING', 'CANCEL_REQUESTED') AND "heartbeatAt" IS NULL
                    THEN 'running_without_heartbeat' END,
               CASE WHEN status IN ('RUNNING', 'CANCEL_REQUESTED')
                         AND (coalesce("heartbeatAt", "startedAt", "queuedAt")
                                  NOT BETWEEN '0001-01-02' AND clock_timestamp() + interval '1 minute'
                              OR "startedAt" NOT BETWEEN '0001-01-02' AND '9999-12-30')
                    THEN 'running_at_no_time' END,
               CASE WHEN status IN ('QUEUED', 'RUNNING', 'CANCEL_REQUESTED', 'DONE', 'CANCELLED') AND dlq
                    THEN 'dlq_without_failure' END,
               CASE WHEN status = 'RETRY_WAIT' AND dlq THEN 'waiting_in_dlq' END,
               CASE WHEN status = 'RETRY_WAIT' AND NOT dlq AND "nextRetryAt" IS NULL THEN 'waiting_without_time' END,
               CASE WHEN status = 'FAILED' AND NOT dlq AND "nextRetryAt" IS NOT NULL THEN 'failed_with_retry_time' END,
               CASE WHEN status = 'FAILED' AND dlq AND "nextRetryAt" IS NOT NULL THEN 'dead_with_retry_time' END,
               CASE WHEN status IN ('DONE', 'CANCELLED') AND "finishedAt" IS NULL THEN 'ended_without_time' END,
               CASE WHEN progress NOT BETWEEN 0 AND 100 THEN 'progress_out_of_range' END,
               CASE WHEN "retryCount" < 0 THEN 'negative_retry_count' END], NULL) AS wrong
          FROM "PlatformJob") j
 WHERE wrong <> '{}'
 ORDER BY id
 LIMIT %(limit)s
