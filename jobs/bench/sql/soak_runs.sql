SELECT count(*) FILTER (WHERE to_status = 'RUNNING'),
       count(*) FILTER (WHERE from_status IN ('RUNNING', 'CANCEL_REQUESTED') AND failure_type = 'INFRASTRUCTURE')
  FROM job_history
