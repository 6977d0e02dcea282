SELECT count(*) AS n
  FROM (SELECT 1 FROM tally_flow WHERE minute < now() - make_interval(secs => %(keep_seconds)s) LIMIT %(most)s) old
