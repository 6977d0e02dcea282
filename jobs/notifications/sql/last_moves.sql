-- Of some types: when one was last done and when one last came. What happened in a minute happened at its end at the latest.
SELECT type, max(done) AS done, max(came) AS came
  FROM (SELECT type, max(hour) FILTER (WHERE done > 0) + interval '1 hour' AS done,
               max(hour) FILTER (WHERE came > 0) + interval '1 hour' AS came
          FROM type_hour WHERE type = ANY (%(types)s) AND hour >= %(since)s::timestamptz GROUP BY 1
        UNION ALL
        SELECT type, max(minute) FILTER (WHERE to_state = 'DONE') + interval '1 minute',
               max(minute) FILTER (WHERE from_state = '') + interval '1 minute'
          FROM tally_flow
         WHERE type = ANY (%(types)s) AND minute >= %(recent)s::timestamptz AND (to_state = 'DONE' OR from_state = '') GROUP BY 1
        UNION ALL
        SELECT type, CASE WHEN to_state = 'DONE' THEN minute + interval '1 minute' END,
               CASE WHEN from_state IS NULL THEN minute + interval '1 minute' END
          FROM tally_delta WHERE type = ANY (%(types)s) AND (to_state = 'DONE' OR from_state IS NULL)) m
 GROUP BY 1
