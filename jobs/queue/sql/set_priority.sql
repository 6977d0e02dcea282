-- Another place in the order for jobs that wait. No change of state, so the history has no row of it; the audit has.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, %(reason)s)),
target AS MATERIALIZED (
    SELECT id, status::text AS status, dlq FROM "PlatformJob" WHERE id = ANY (%(ids)s) ORDER BY id FOR UPDATE
),
moved AS (
    UPDATE "PlatformJob" j
       SET priority = %(priority)s
      FROM target t, said
     WHERE j.id = t.id AND t.status IN ('QUEUED', 'RETRY_WAIT') AND NOT t.dlq
    RETURNING j.id, j.status::text AS status
)
SELECT t.id, t.status AS found, t.dlq AS found_dlq, m.status AS now_is FROM target t LEFT JOIN moved m ON m.id = t.id
