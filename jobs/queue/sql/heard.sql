-- Which of these runs were heard of lately, and how long ago in seconds. Without a worker there is nobody to hear.
SELECT id, coalesce(detiq_seconds("heartbeatAt", clock_timestamp()), 0) AS seconds
  FROM "PlatformJob"
 WHERE id = ANY (%(ids)s) AND status IN ('RUNNING', 'CANCEL_REQUESTED') AND "workerId" IS NOT NULL
   AND "heartbeatAt" > clock_timestamp() - make_interval(secs => %(within)s)
 ORDER BY id
