-- Events that succeeded, and the newest job that each made is dead-lettered. Of the newest dead letters.
SELECT x.*, count(*) OVER () AS total
  FROM (SELECT e.id, e.company_id, e.document_id, left(e.hook_type, 200) AS hook_type, e.status, e.attempts, l.job_id,
               j.status::text AS job_status, false AS in_trash
          FROM (SELECT id, status, "dlqAt" FROM "PlatformJob" WHERE dlq
                 ORDER BY "dlqAt" DESC, id DESC LIMIT %(rows)s) j
          JOIN ledger_job l ON l.job_id = j.id
          JOIN document_lifecycle_events e ON e.id = l.event_id AND e.status = 'succeeded'
         WHERE (%(seen)s::timestamptz IS NULL OR greatest(e.updated_at, j."dlqAt") <= %(seen)s)
           AND NOT EXISTS (SELECT FROM ledger_job n
                            WHERE n.event_id = l.event_id AND (n.made_at, n.job_id) > (l.made_at, l.job_id))
         ORDER BY j."dlqAt", e.id
         LIMIT %(rows)s) x
 LIMIT %(most)s
