SELECT count(*) AS n
  FROM (SELECT 1 FROM "PlatformJob"
         WHERE status IN ('DONE', 'FAILED', 'CANCELLED') AND NOT dlq AND NOT inline
           AND "finishedAt" < now() - make_interval(secs => %(keep_seconds)s)
         LIMIT %(most)s) old
