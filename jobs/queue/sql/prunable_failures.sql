SELECT count(*) AS n
  FROM (SELECT 1 FROM failure_cause WHERE grain = 'h' AND at < now() - make_interval(secs => %(keep_seconds)s)
         LIMIT %(most)s) old
