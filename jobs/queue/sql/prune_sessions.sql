-- Login sessions that have ended.
WITH pruned AS (
    DELETE FROM django_session
     WHERE session_key = ANY (ARRAY(SELECT session_key FROM django_session
                                     WHERE expire_date < now() - make_interval(secs => %(keep_seconds)s)
                                     ORDER BY expire_date
                                     LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING session_key
)
SELECT count(*)::integer AS pruned, count(*) = %(limit)s AS more FROM pruned
