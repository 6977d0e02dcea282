-- Forgets what was in force before `before`: of each row all versions but the one still in force then, and rows gone by
-- then. From `before` on everything stays known; the row `begin` says so.
WITH last AS (
    SELECT DISTINCT ON (source, key) id, source, key, row
      FROM gate_history WHERE at < %(before)s AND source <> 'begin'
     ORDER BY source, key, id DESC
),
gone AS (
    DELETE FROM gate_history
     WHERE id = ANY (ARRAY(
               SELECT g.id
                 FROM gate_history g
                 JOIN last l USING (source, key)
                WHERE g.id < l.id OR g.id = l.id AND (l.row IS NULL OR l.row ->> 'lifted_at' IS NOT NULL)
                LIMIT %(limit)s))
    RETURNING id
),
begun AS (
    UPDATE gate_history SET at = %(before)s
     WHERE source = 'begin' AND at < %(before)s AND EXISTS (SELECT 1 FROM gone)
)
SELECT count(*) AS pruned FROM gone
