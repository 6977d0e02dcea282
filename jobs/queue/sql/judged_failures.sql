-- Failures of the last days, newest first, by the index of what failed. `sign` is what a failure was judged by; one that
-- another program judged, or that needed no rule, has none.
SELECT id, job_id, type, at, failure_type, (detail -> 'sign')::text AS sign
  FROM job_history
 WHERE failure_type IS NOT NULL
   AND at > now() - make_interval(secs => %(days)s * 86400)
   AND (%(before_at)s::timestamptz IS NULL OR (at, id) < (%(before_at)s::timestamptz, %(before_id)s::bigint))
 ORDER BY at DESC, id DESC
 LIMIT %(limit)s
