-- Adds the whole hours since the last one that was added; an hour is whole ten minutes after its end.
WITH span AS MATERIALIZED (
    SELECT coalesce((SELECT at FROM alert_mark WHERE name = 'hours'),
                    date_trunc('hour', (SELECT min(minute) FROM tally_flow), 'UTC')) AS first,
           date_trunc('hour', %(now)s::timestamptz - interval '10 minutes', 'UTC') AS last
), folded AS (
    INSERT INTO type_hour (hour, type, done, came)
    SELECT date_trunc('hour', minute, 'UTC'), type, coalesce(sum(n) FILTER (WHERE to_state = 'DONE'), 0),
           coalesce(sum(n) FILTER (WHERE from_state = ''), 0)
      FROM tally_flow, span
     WHERE minute >= span.first AND minute < span.last AND (to_state = 'DONE' OR from_state = '')
     GROUP BY 1, 2
    ON CONFLICT DO NOTHING
), known AS (
    INSERT INTO alert_mark (name, at) SELECT 'known', first FROM span WHERE first IS NOT NULL ON CONFLICT DO NOTHING
)
INSERT INTO alert_mark AS m (name, at) SELECT 'hours', last FROM span WHERE first IS NOT NULL
ON CONFLICT (name) DO UPDATE SET at = EXCLUDED.at WHERE m.at < EXCLUDED.at
