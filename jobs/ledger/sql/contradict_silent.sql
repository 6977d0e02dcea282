-- Events that run, and their process was not heard of for twice as long as the sweep allows, or not at a possible time.
SELECT x.*, count(*) OVER () AS total
  FROM (SELECT e.id, e.company_id, e.document_id, left(e.hook_type, 200) AS hook_type, e.status, e.attempts,
               NULL AS job_id, NULL AS job_status, false AS in_trash
          FROM document_lifecycle_events e
         WHERE e.status = 'running'
           AND (e.updated_at IS NULL
                OR e.updated_at NOT BETWEEN now() - 2 * make_interval(secs => %(stale)s)
                                        AND now() + make_interval(secs => %(stale)s))
         LIMIT %(rows)s) x
 LIMIT %(most)s
