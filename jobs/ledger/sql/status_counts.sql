-- How many events are open, by what they are and hook, of some companies or all (NULL), each kind counted no further than `most`.
WITH kinds AS (
    SELECT 'pending' AS state, hook_type
      FROM (SELECT hook_type FROM document_lifecycle_events
             WHERE status = 'pending' AND attempts < %(max_attempts)s
               AND (%(companies)s::text[] IS NULL OR company_id = ANY (%(companies)s::text[]))
             ORDER BY created_at, id LIMIT %(most)s) p
    UNION ALL
    SELECT 'exhausted', hook_type
      FROM (SELECT hook_type FROM document_lifecycle_events
             WHERE status = 'pending' AND attempts > 0 AND attempts >= %(max_attempts)s
               AND (%(companies)s::text[] IS NULL OR company_id = ANY (%(companies)s::text[]))
             ORDER BY updated_at DESC, id DESC LIMIT %(most)s) x
    UNION ALL
    SELECT 'running', hook_type
      FROM (SELECT hook_type FROM document_lifecycle_events
             WHERE status = 'running'
               AND (%(companies)s::text[] IS NULL OR company_id = ANY (%(companies)s::text[]))
             ORDER BY updated_at LIMIT %(most)s) r
    UNION ALL
    SELECT 'failed', hook_type
      FROM (SELECT hook_type FROM document_lifecycle_events
             WHERE status = 'failed'
               AND (%(companies)s::text[] IS NULL OR company_id = ANY (%(companies)s::text[]))
             ORDER BY updated_at DESC, id DESC LIMIT %(most)s) f
    UNION ALL
    SELECT 'succeeded', hook_type
      FROM (SELECT hook_type FROM document_lifecycle_events
             WHERE status = 'succeeded'
               AND (%(companies)s::text[] IS NULL OR company_id = ANY (%(companies)s::text[]))
               AND updated_at >= clock_timestamp()::timestamptz - interval '1 hour'
             ORDER BY updated_at DESC LIMIT %(most)s) s
)
SELECT left(hook_type, 200) AS hook_type,
       count(*) FILTER (WHERE state = 'pending') AS pending,
       count(*) FILTER (WHERE state = 'running') AS running,
       count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'exhausted') AS exhausted,
       count(*) FILTER (WHERE state = 'succeeded') AS succeeded
  FROM kinds
 GROUP BY 1
 ORDER BY count(*) FILTER (WHERE state IN ('failed', 'exhausted')) DESC, pending DESC, 1
