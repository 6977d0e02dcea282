-- Purged jobs that can no longer be restored. Their history stays as long as that of other jobs that are gone.
WITH pruned AS (
    DELETE FROM job_trash
     WHERE job_id = ANY (ARRAY(SELECT job_id FROM job_trash
                                WHERE purged_at < now() - make_interval(secs => %(keep_seconds)s)
                                ORDER BY purged_at
                                LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING job_id
)
SELECT count(*)::integer AS pruned, count(*) = %(limit)s AS more FROM pruned
