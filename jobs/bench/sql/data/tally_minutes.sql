INSERT INTO tally_minute AS m (minute, tenant_id, type, from_state, to_state, failure_type, bucket, n, seconds)
SELECT date_trunc('minute', at), tenant, type, coalesce(from_state, ''), to_state, coalesce(failure_type, ''),
       CASE WHEN source IN ('QUEUED', 'RUNNING') THEN detiq_bucket(spent) ELSE 0 END, count(*),
       coalesce(sum(spent) FILTER (WHERE source IN ('QUEUED', 'RUNNING')), 0)
  FROM bench_move
 WHERE at >= now() - make_interval(days => %(minute_days)s)
 GROUP BY 1, 2, 3, 4, 5, 6, 7
ON CONFLICT (minute, type, to_state, from_state, tenant_id, failure_type, bucket)
DO UPDATE SET n = m.n + EXCLUDED.n, seconds = m.seconds + EXCLUDED.seconds
