SELECT count(*) AS n
  FROM (SELECT 1 FROM job_history h
         WHERE h.to_status IS NULL AND h.at < now() - make_interval(secs => %(keep_seconds)s)
           AND NOT EXISTS (SELECT 1 FROM "PlatformJob" j WHERE j.id = h.job_id)
           AND NOT EXISTS (SELECT 1 FROM job_trash t WHERE t.job_id = h.job_id)
         LIMIT %(most)s) old
