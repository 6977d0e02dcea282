-- Forgets what was in force only before a moment, `keep_seconds` ago: of each row all versions but the one still in force
-- then, and rows gone by then. From that moment on everything stays known; the row `begin` says so.
WITH moment AS MATERIALIZED (SELECT clock_timestamp() - make_interval(secs => %(keep_seconds)s) AS at),
last AS (
    SELECT DISTINCT ON (g.source, g.key) g.id, g.source, g.key, g.row
      FROM gate_history g, moment m WHERE g.at < m.at AND g.source <> 'begin'
     ORDER BY g.source, g.key, g.id DESC
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
    UPDATE gate_history g SET at = m.at
      FROM moment m
     WHERE g.source = 'begin' AND g.at < m.at AND EXISTS (SELECT 1 FROM gone)
)
SELECT count(*) AS pruned, count(*) >= %(limit)s AS more FROM gone
