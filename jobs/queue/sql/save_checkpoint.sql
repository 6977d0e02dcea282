UPDATE "PlatformJob"
   SET checkpoint = %(checkpoint)s::jsonb, "checkpointVersion" = %(version)s, "checkpointAt" = clock_timestamp(), "heartbeatAt" = clock_timestamp()
 WHERE id = %(id)s AND detiq_same_start("startedAt", %(started)s) AND "workerId" = %(worker)s
   AND status IN ('RUNNING', 'CANCEL_REQUESTED')
RETURNING id
