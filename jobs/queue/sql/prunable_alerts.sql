SELECT count(*) AS n
  FROM (SELECT 1 FROM alert WHERE closed_at < now() - make_interval(secs => %(keep_seconds)s) LIMIT %(most)s) old
