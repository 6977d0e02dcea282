SELECT count(*) AS n
  FROM (SELECT 1 FROM worker WHERE heartbeat_at < now() - make_interval(secs => %(keep_seconds)s) LIMIT %(most)s) old
