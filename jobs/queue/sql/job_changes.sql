-- A job's latest changes, oldest first.
SELECT at, detiq_state(from_status, from_dlq) AS source, detiq_state(to_status, to_dlq) AS target, actor, reason
  FROM (SELECT * FROM job_history WHERE job_id = %(id)s ORDER BY id DESC LIMIT %(most)s) h
 ORDER BY h.id
