-- Workers that stopped or fell silent long ago leave the registry. No job's fate depends on it.
DELETE FROM worker
 WHERE id = ANY (ARRAY(SELECT id FROM worker
                        WHERE heartbeat_at < clock_timestamp() - make_interval(secs => %(silent_seconds)s)
                        LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
RETURNING id
