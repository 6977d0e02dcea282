SELECT j.id, j.status::text, j.dlq,
       EXISTS (SELECT 1 FROM job_history h
                WHERE h.job_id = j.id AND h.failure_type IS NOT NULL AND h.failure_type <> 'INFRASTRUCTURE')
  FROM "PlatformJob" j
 WHERE j.id = ANY (%s)
