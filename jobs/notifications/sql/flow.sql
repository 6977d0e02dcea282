-- By type: how many wait, and how many came and started in the whole minutes from `since` until `until`.
SELECT type, sum(queued)::bigint AS queued, sum(entered)::bigint AS entered, sum(started)::bigint AS started
  FROM (SELECT type, n AS queued, 0 AS entered, 0 AS started FROM tally_type WHERE state = 'QUEUED'
        UNION ALL
        SELECT type, CASE WHEN to_state = 'QUEUED' THEN n ELSE 0 END - CASE WHEN from_state = 'QUEUED' THEN n ELSE 0 END, 0, 0
          FROM tally_delta WHERE to_state = 'QUEUED' OR from_state = 'QUEUED'
        UNION ALL
        SELECT type, 0, CASE WHEN to_state = 'QUEUED' THEN n ELSE 0 END, CASE WHEN from_state = 'QUEUED' THEN n ELSE 0 END
          FROM tally_flow WHERE minute >= %(since)s AND minute < %(until)s AND (to_state = 'QUEUED' OR from_state = 'QUEUED')
        UNION ALL
        SELECT type, 0, CASE WHEN to_state = 'QUEUED' THEN n ELSE 0 END, CASE WHEN from_state = 'QUEUED' THEN n ELSE 0 END
          FROM tally_delta WHERE minute >= %(since)s AND minute < %(until)s AND (to_state = 'QUEUED' OR from_state = 'QUEUED')
       ) f
 GROUP BY 1 HAVING sum(queued) > 0
