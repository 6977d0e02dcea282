SELECT count(*) AS n
  FROM (SELECT 1 FROM document_lifecycle_events
         WHERE status = 'succeeded' AND updated_at < now() - make_interval(secs => %(keep_seconds)s)
         LIMIT %(most)s) old
