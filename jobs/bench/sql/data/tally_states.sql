INSERT INTO tally_state AS s (tenant_id, type, state, n)
SELECT tenant, type, detiq_state(fate, fate = 'FAILED'), count(*)
  FROM bench_story
 GROUP BY 1, 2, 3
ON CONFLICT (tenant_id, type, state) DO UPDATE SET n = s.n + EXCLUDED.n
