-- Workers heard of within the last minutes, and what each runs.
SELECT w.id, w.slots, w.types, w.stopping, w.version, w.started_at,
       extract(epoch FROM clock_timestamp() - w.heartbeat_at)::float8 AS silent_seconds,
       (SELECT count(*) FROM "PlatformJob" j
         WHERE j."workerId" = w.id AND j.status IN ('RUNNING', 'CANCEL_REQUESTED')) AS running
  FROM worker w
 WHERE w.stopped_at IS NULL AND w.heartbeat_at > clock_timestamp() - make_interval(secs => %(silent_seconds)s)
 ORDER BY w.started_at
