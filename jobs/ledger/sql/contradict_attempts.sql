-- Events that wait or run with more attempts than there can be.
SELECT x.*, count(*) OVER () AS total
  FROM (SELECT e.id, e.company_id, e.document_id, left(e.hook_type, 200) AS hook_type, e.status, e.attempts,
               NULL AS job_id, NULL AS job_status, false AS in_trash
          FROM document_lifecycle_events e
         WHERE e.status IN ('pending', 'running') AND e.attempts > %(max_attempts)s AND e.attempts > 0
           AND (%(seen)s::timestamptz IS NULL OR e.updated_at <= %(seen)s)
         ORDER BY e.updated_at, e.id
         LIMIT %(rows)s) x
 LIMIT %(most)s
