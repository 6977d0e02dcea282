SELECT count(*) AS n
  FROM (SELECT 1 FROM operation o
         WHERE o.finished_at < now() - make_interval(secs => %(keep_seconds)s)
           AND NOT EXISTS (SELECT 1 FROM job_trash t WHERE t.operation_id = o.id)
         LIMIT %(most)s) old
