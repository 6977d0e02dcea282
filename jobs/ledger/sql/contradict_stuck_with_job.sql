-- Events that failed or are exhausted, and the newest job that each made is done or under way. One that failed, too, or was
-- cancelled agrees with its event.
SELECT x.*, count(*) OVER () AS total
  FROM (SELECT e.id, e.company_id, e.document_id, left(e.hook_type, 200) AS hook_type, e.status, e.attempts, l.job_id,
               j.status::text AS job_status, false AS in_trash
          FROM ((SELECT * FROM document_lifecycle_events WHERE status = 'failed'
                  ORDER BY updated_at DESC, id DESC LIMIT %(rows)s)
                UNION ALL
                (SELECT * FROM document_lifecycle_events WHERE status = 'pending' AND attempts > 0
                    AND attempts >= %(max_attempts)s ORDER BY updated_at DESC, id DESC LIMIT %(rows)s)) e
          JOIN ledger_job l ON l.event_id = e.id
          JOIN "PlatformJob" j ON j.id = l.job_id
         WHERE NOT j.dlq AND j.status NOT IN ('FAILED', 'CANCELLED')
           AND (%(seen)s::timestamptz IS NULL OR e.updated_at <= %(seen)s)
           AND NOT EXISTS (SELECT FROM ledger_job n
                            WHERE n.event_id = l.event_id AND (n.made_at, n.job_id) > (l.made_at, l.job_id))
         ORDER BY e.updated_at, e.id
         LIMIT %(rows)s) x
 LIMIT %(most)s
