-- Workers that stopped or fell silent long ago leave the registry. No job's fate depends on it.
WITH pruned AS (
    DELETE FROM worker
     WHERE id = ANY (ARRAY(SELECT id FROM worker
                            WHERE heartbeat_at < now() - make_interval(secs => %(keep_seconds)s)
                            ORDER BY heartbeat_at
                            LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING id
)
SELECT count(*)::integer AS pruned, count(*) = %(limit)s AS more FROM pruned
