-- Counts by the minute that no chart shows any more. The counts by state and the totals are kept.
WITH pruned AS (
    DELETE FROM tally_minute
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM tally_minute
                              WHERE minute < now() - make_interval(secs => %(keep_seconds)s)
                              ORDER BY minute
                              LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING 1
)
SELECT count(*)::integer AS pruned, count(*) = %(limit)s AS more FROM pruned
