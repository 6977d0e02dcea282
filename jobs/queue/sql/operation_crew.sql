-- Slots of live workers, what others run in them, and the jobs of this operation that run or wait to run. Those that wait are
-- looked for among the last that were released.
WITH crew AS MATERIALIZED (
    SELECT id, slots FROM worker
     WHERE stopped_at IS NULL AND NOT stopping
       AND heartbeat_at > clock_timestamp() - make_interval(secs => %(silent_seconds)s)
), live AS MATERIALIZED (
    SELECT EXISTS (SELECT 1 FROM operation_item i
                    WHERE i.job_id = j.id AND i.operation_id = %(id)s AND i.outcome = 'done') AS ours
      FROM "PlatformJob" j
     WHERE j.status IN ('RUNNING', 'CANCEL_REQUESTED') AND NOT j.inline AND j."workerId" IN (SELECT id FROM crew)
), released AS (
    SELECT job_id FROM operation_item
     WHERE operation_id = %(id)s AND outcome = 'done'
       AND position <= (SELECT reached FROM operation WHERE id = %(id)s)
     ORDER BY position DESC LIMIT 2000
)
SELECT (SELECT coalesce(sum(slots), 0) FROM crew)::integer AS slots,
       (SELECT count(*) FILTER (WHERE NOT ours) FROM live)::integer AS others,
       ((SELECT count(*) FILTER (WHERE ours) FROM live)
        + (SELECT count(*) FROM released r JOIN "PlatformJob" j ON j.id = r.job_id AND j.status = 'QUEUED'))::integer AS ours
