-- A chain of work takes the operation, or goes on with it: nobody else has it, or whoever had it says nothing any more.
UPDATE operation
   SET runner = %(runner)s, state = 'RUNNING', heartbeat_at = clock_timestamp(),
       started_at = coalesce(started_at, clock_timestamp()),
       -- The first job of a rate goes at once.
       paced_at = coalesce(paced_at, clock_timestamp() - interval '1 hour')
 WHERE id = %(id)s AND state IN ('PENDING', 'RUNNING')
   AND (runner IS NULL OR runner = %(runner)s
        OR heartbeat_at < clock_timestamp() - make_interval(secs => %(lease_seconds)s))
RETURNING id, kind, actor, reason, options, total, reached
