UPDATE {table}
   SET status = 'DONE', "finishedAt" = clock_timestamp(), "heartbeatAt" = NULL, "workerId" = NULL, progress = 100
 WHERE id = ANY (%(ended)s::text[]) AND status = 'RUNNING'
