INSERT INTO tally_total AS t (type, from_state, to_state, bucket, n, seconds)
SELECT type, coalesce(from_state, ''), to_state,
       CASE WHEN source IN ('QUEUED', 'RUNNING') THEN detiq_bucket(spent) ELSE 0 END, count(*),
       coalesce(sum(spent) FILTER (WHERE source IN ('QUEUED', 'RUNNING')), 0)
  FROM bench_move
 GROUP BY 1, 2, 3, 4
ON CONFLICT (type, from_state, to_state, bucket) DO UPDATE SET n = t.n + EXCLUDED.n, seconds = t.seconds + EXCLUDED.seconds
