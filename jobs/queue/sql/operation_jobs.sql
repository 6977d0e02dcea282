-- The jobs of a batch as they are now. Those that somebody has locked are passed over: nobody is waited for.
WITH got AS MATERIALIZED (
    SELECT id, status::text AS status, dlq, "redriveCount" AS redrives,
           detiq_kept(checkpoint) AS kept
      FROM "PlatformJob" WHERE id = ANY (%(ids)s) ORDER BY id FOR UPDATE SKIP LOCKED
)
SELECT w.id, g.status, g.dlq, g.redrives, g.kept,
       g.id IS NULL AND EXISTS (SELECT 1 FROM "PlatformJob" j WHERE j.id = w.id) AS locked
  FROM unnest(%(ids)s::text[]) AS w (id) LEFT JOIN got g ON g.id = w.id
