-- How many workers live, and when one was last heard of.
SELECT count(*) FILTER (WHERE stopped_at IS NULL
                          AND heartbeat_at > %(now)s::timestamptz - make_interval(secs => %(silent)s)) AS live,
       max(least(heartbeat_at, coalesce(stopped_at, 'infinity'))) AS last,
       (SELECT coalesce(sum(n), 0)::bigint FROM tally_type WHERE state = 'QUEUED') AS queued
  FROM worker
