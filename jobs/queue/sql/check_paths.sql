-- Every kind of step in the histories, with a job that made it. A step of another program is not ours to judge; one of
-- the door begins with no `sql:` as its actor.
SELECT from_status, coalesce(from_dlq, false) AS from_dlq, to_status, coalesce(to_dlq, false) AS to_dlq,
       count(*) AS n, min(job_id) AS job_id, min(actor) AS actor, min(at) AS at
  FROM job_history
 WHERE at >= %(since)s AND at < %(until)s AND actor NOT LIKE 'sql:%%'
 GROUP BY 1, 2, 3, 4
