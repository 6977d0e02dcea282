SELECT count(*) FILTER (WHERE status = 'DONE') AS done,
       extract(epoch FROM max("finishedAt") - min("startedAt"))::double precision AS seconds
  FROM "PlatformJob"
