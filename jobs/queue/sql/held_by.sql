-- Runs that the table says this worker has. Live rows only, so few are read.
SELECT id, "startedAt" AS started
  FROM "PlatformJob"
 WHERE status IN ('RUNNING', 'CANCEL_REQUESTED') AND "workerId" = %(worker)s
