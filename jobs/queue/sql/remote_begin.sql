-- A run that a service is about to be asked for. No row: the run is no longer this worker's.
INSERT INTO remote_run (id, job_id, type, worker, started_at, deadline_at)
SELECT %(id)s, j.id, %(type)s, j."workerId", j."startedAt", clock_timestamp() + make_interval(secs => %(longest)s)
  FROM "PlatformJob" j
 WHERE j.id = %(job_id)s AND j."workerId" = %(worker)s AND detiq_same_start(j."startedAt", %(started)s)
   AND j.status IN ('RUNNING', 'CANCEL_REQUESTED')
RETURNING deadline_at, extract(epoch FROM clock_timestamp())::double precision AS now
