-- Waits longer than any rule gives: beyond the longest delay with all its jitter, unless the other side named the wait, and
-- then beyond a day. Jobs that another program lets wait for longer are counted, too.
SELECT count(*) AS n
  FROM "PlatformJob" j
 WHERE j.status = 'RETRY_WAIT'
   AND j."nextRetryAt" > now() + make_interval(secs => %(longest_seconds)s)
   AND (j."nextRetryAt" > now() + make_interval(secs => %(named_seconds)s)
        OR NOT coalesce((SELECT h.reason LIKE '%%the other side named the wait%%'
                           FROM job_history h
                          WHERE h.job_id = j.id
                          ORDER BY h.id DESC
                          LIMIT 1), false))
