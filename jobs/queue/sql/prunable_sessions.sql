SELECT count(*) AS n
  FROM (SELECT 1 FROM django_session WHERE expire_date < now() - make_interval(secs => %(keep_seconds)s) LIMIT %(most)s) old
