SELECT count(*) AS n
  FROM (SELECT 1 FROM remote_run
         WHERE deadline_at < clock_timestamp() - make_interval(secs => %(keep_seconds)s)
         LIMIT %(most)s) old
