-- Runs that the table says this worker has, and that are none of those it knows. Live rows only, so few are read.
SELECT j.id, j."startedAt" AS started
  FROM "PlatformJob" j
 WHERE j.status IN ('RUNNING', 'CANCEL_REQUESTED') AND j."workerId" = %(worker)s
   AND NOT EXISTS (SELECT 1
                     FROM unnest(%(ids)s::text[], %(starts)s::timestamptz[]) AS run (id, started)
                    WHERE run.id = j.id AND detiq_same_start(j."startedAt", run.started))
