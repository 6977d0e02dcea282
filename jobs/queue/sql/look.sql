-- Are these runs still ours, and has somebody asked them to stop? A plain read: it waits for nobody.
SELECT j.id, j.status::text AS status
  FROM "PlatformJob" j
  JOIN unnest(%(ids)s::text[], %(starts)s::timestamptz[]) AS run (id, started) ON j.id = run.id AND detiq_same_start(j."startedAt", run.started)
 WHERE j."workerId" IS NOT DISTINCT FROM %(worker)s AND j.status IN ('RUNNING', 'CANCEL_REQUESTED')
