-- Events that succeeded, and the newest job that each made is gone: not pruned by retention, which keeps events no longer
-- than jobs, and not made up for by a later event that says the same. Of the newest links.
SELECT x.*, count(*) OVER () AS total
  FROM (SELECT e.id, e.company_id, e.document_id, left(e.hook_type, 200) AS hook_type, e.status, e.attempts, l.job_id,
               NULL AS job_status, t.job_id IS NOT NULL AS in_trash
          FROM (SELECT DISTINCT ON (n.event_id) n.*
                  FROM (SELECT * FROM ledger_job ORDER BY made_at DESC LIMIT %(rows)s) n
                 ORDER BY n.event_id, n.made_at DESC, n.job_id DESC) l
          JOIN document_lifecycle_events e ON e.id = l.event_id AND e.status = 'succeeded'
          LEFT JOIN "PlatformJob" j ON j.id = l.job_id
          LEFT JOIN job_trash t ON t.job_id = l.job_id
         WHERE j.id IS NULL
           AND e.updated_at > now() - least(interval '30 days', 0.9 * make_interval(secs => %(retention)s))
           AND (%(seen)s::timestamptz IS NULL OR e.updated_at <= %(seen)s)
           AND NOT EXISTS (SELECT FROM document_lifecycle_events o
                            WHERE o.document_id = e.document_id AND o.company_id = e.company_id
                              AND o.hook_type = e.hook_type AND (o.created_at, o.id) > (e.created_at, e.id))
         ORDER BY l.made_at, e.id
         LIMIT %(rows)s) x
 LIMIT %(most)s
