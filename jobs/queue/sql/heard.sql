-- Which of these runs were heard of lately, and how long ago in seconds. Without a worker there is nobody to hear.
SELECT id, extract(epoch FROM clock_timestamp() - "heartbeatAt")::double precision AS seconds
  FROM "PlatformJob"
 WHERE id = ANY (%(ids)s) AND status IN ('RUNNING', 'CANCEL_REQUESTED') AND "workerId" IS NOT NULL
   AND "heartbeatAt" > clock_timestamp() - make_interval(secs => %(within)s)
 ORDER BY id
