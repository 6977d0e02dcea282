-- Types of which some were done within the last weeks, and none since a moment.
SELECT type FROM (SELECT DISTINCT type FROM type_hour WHERE hour >= %(since)s AND done > 0) known
 WHERE NOT EXISTS (SELECT FROM tally_flow f
                    WHERE f.minute >= %(busy_since)s AND f.type = known.type AND f.to_state = 'DONE')
   AND NOT EXISTS (SELECT FROM tally_delta d
                    WHERE d.minute >= %(busy_since)s AND d.type = known.type AND d.to_state = 'DONE')
 ORDER BY 1 LIMIT 500
