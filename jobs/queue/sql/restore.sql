-- Back from the trash, equal in every column. A job whose id is taken again meanwhile stays in the trash.
WITH said AS MATERIALIZED (SELECT detiq_says(%(actor)s, %(reason)s)),
target AS MATERIALIZED (
    SELECT t.job_id, t.row, EXISTS (SELECT 1 FROM "PlatformJob" j WHERE j.id = t.job_id) AS taken
      FROM job_trash t WHERE t.job_id = ANY (%(ids)s) ORDER BY t.job_id FOR UPDATE
),
back AS (
    INSERT INTO "PlatformJob"
    -- In FROM it is called once a row; in the list it would be once for each column.
    SELECT j.* FROM target t CROSS JOIN said CROSS JOIN LATERAL detiq_restored(t.row) j WHERE NOT t.taken
    RETURNING id, status::text AS status
),
emptied AS (
    DELETE FROM job_trash WHERE job_id IN (SELECT id FROM back)
)
SELECT t.job_id AS id, CASE WHEN t.taken THEN 'TRASH (its id is taken)' ELSE 'TRASH' END AS found, false AS found_dlq,
       b.status AS now_is
  FROM target t LEFT JOIN back b ON b.id = t.job_id
