-- Jobs by type and state: the folded counters and what is not folded yet.
SELECT type, state, sum(n)::bigint AS n
  FROM (SELECT type, state, n FROM tally_state
        UNION ALL
        SELECT type, from_state, -n FROM tally_delta WHERE from_state IS NOT NULL
        UNION ALL
        SELECT type, to_state, n FROM tally_delta WHERE to_state IS NOT NULL) c
 GROUP BY 1, 2
HAVING sum(n) <> 0
 ORDER BY 1, 2
