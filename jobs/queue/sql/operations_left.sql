-- Operations that should move and that nobody moves: their worker died, or the word to begin was lost.
SELECT id FROM operation
 WHERE state IN ('PENDING', 'RUNNING')
   AND coalesce(heartbeat_at, created_at) < clock_timestamp() - make_interval(secs => %(lease_seconds)s)
 ORDER BY id
 LIMIT 100
