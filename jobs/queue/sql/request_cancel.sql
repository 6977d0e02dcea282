-- A waiting job is cancelled at once, for no worker has it; a running one is asked to stop.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, %(reason)s)),
target AS MATERIALIZED (
    SELECT id, status::text AS status, dlq FROM "PlatformJob" WHERE id = ANY (%(ids)s) ORDER BY id FOR UPDATE
),
moved AS (
    UPDATE "PlatformJob" j
       SET status = CASE t.status WHEN 'RUNNING' THEN 'CANCEL_REQUESTED' ELSE 'CANCELLED' END,
           "finishedAt" = CASE t.status WHEN 'RUNNING' THEN j."finishedAt" ELSE clock_timestamp() END,
           "nextRetryAt" = NULL
      FROM target t, said
     WHERE j.id = t.id AND t.status IN ('QUEUED', 'RETRY_WAIT', 'RUNNING') AND NOT (t.status = 'RETRY_WAIT' AND t.dlq)
    RETURNING j.id, j.status::text AS status
)
SELECT t.id, t.status AS found, t.dlq AS found_dlq, m.status AS now_is FROM target t LEFT JOIN moved m ON m.id = t.id
