-- A sign of life for all runs of one worker. Rows that somebody else has locked are passed over: they are written at the
-- next beat, and nobody queues. What is no longer ours is simply not found; `look.sql` says so.
UPDATE "PlatformJob"
   SET "heartbeatAt" = clock_timestamp()
 WHERE id = ANY (ARRAY(
           SELECT j.id
             FROM "PlatformJob" j
             JOIN unnest(%(ids)s::text[], %(starts)s::timestamptz[]) AS run (id, started)
               ON j.id = run.id AND detiq_same_start(j."startedAt", run.started)
            WHERE j."workerId" = %(worker)s AND j.status IN ('RUNNING', 'CANCEL_REQUESTED')
            ORDER BY j.id
              FOR UPDATE OF j SKIP LOCKED))
