-- Events that succeeded long ago, with their links to jobs. What failed or is exhausted stays until somebody decides.
WITH old AS (
    DELETE FROM document_lifecycle_events
     WHERE id = ANY (ARRAY(SELECT id FROM document_lifecycle_events
                            WHERE status = 'succeeded' AND updated_at < now() - make_interval(secs => %(keep_seconds)s)
                            ORDER BY updated_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)::text[])
    RETURNING id
),
links AS (
    DELETE FROM ledger_job WHERE event_id IN (SELECT id FROM old)
)
SELECT count(*)::integer AS pruned, count(*) >= %(limit)s AS more FROM old
