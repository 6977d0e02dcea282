-- What a type's jobs do now, and who could do them.
SELECT (SELECT coalesce(sum(n), 0)::bigint FROM tally_type WHERE type = %(type)s AND state = 'QUEUED') AS queued,
       (SELECT coalesce(sum(n), 0)::bigint FROM tally_type WHERE type = %(type)s AND state = 'RUNNING') AS running,
       (SELECT coalesce(sum(n), 0)::bigint FROM tally_type WHERE type = %(type)s AND state = 'RETRY_WAIT') AS retry_wait,
       (SELECT count(*) FROM worker WHERE stopped_at IS NULL AND %(type)s = ANY (types)
           AND heartbeat_at > %(now)s::timestamptz - make_interval(secs => %(silent)s)) AS workers,
       (SELECT coalesce(sum(n), 0)::bigint FROM tally_flow WHERE type = %(type)s AND minute >= %(since)s
           AND from_state IN ('RUNNING', 'CANCEL_REQUESTED') AND to_state IN ('RETRY_WAIT', 'FAILED', 'DEAD_LETTERED')) AS failed
