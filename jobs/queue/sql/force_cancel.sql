-- Ends a run without its worker's word: the run is fenced off, so that whatever it reports later changes nothing.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, %(reason)s)),
target AS MATERIALIZED (
    SELECT id, status::text AS status, dlq FROM "PlatformJob" WHERE id = ANY (%(ids)s) ORDER BY id FOR UPDATE
),
moved AS (
    UPDATE "PlatformJob" j
       SET status = 'CANCELLED', "finishedAt" = clock_timestamp(), "heartbeatAt" = NULL, "workerId" = NULL
      FROM target t, said
     WHERE j.id = t.id AND t.status IN ('RUNNING', 'CANCEL_REQUESTED')
    RETURNING j.id, j.status::text AS status
)
SELECT t.id, t.status AS found, t.dlq AS found_dlq, m.status AS now_is FROM target t LEFT JOIN moved m ON m.id = t.id
