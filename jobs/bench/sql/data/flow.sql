-- The overview's minutes: those of the last two days, without tenants, and by tenant alone.
INSERT INTO tally_flow (minute, type, from_state, to_state, bucket, n)
SELECT minute, type, from_state, to_state, bucket, sum(n)
  FROM tally_minute WHERE minute >= now() - interval '2 days'
 GROUP BY 1, 2, 3, 4, 5;
INSERT INTO tally_tenant (minute, tenant_id, started, seconds)
SELECT minute, tenant_id, coalesce(sum(n) FILTER (WHERE to_state = 'RUNNING'), 0),
       coalesce(sum(least(seconds, n * 900.0)) FILTER (WHERE from_state = 'RUNNING'), 0)
  FROM tally_minute WHERE minute >= now() - interval '2 days' AND (to_state = 'RUNNING' OR from_state = 'RUNNING')
 GROUP BY 1, 2
