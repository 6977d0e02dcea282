SELECT count(*) AS n
  FROM (SELECT 1 FROM job_trash WHERE purged_at < now() - make_interval(secs => %(keep_seconds)s) LIMIT %(most)s) old
