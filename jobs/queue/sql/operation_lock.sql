-- Held for one batch: a pause or a stop takes effect at its end, and no second worker is at it meanwhile.
SELECT state, runner IS NOT DISTINCT FROM %(runner)s AS ours,
       extract(epoch FROM clock_timestamp() - paced_at)::float8 AS idle_seconds
  FROM operation WHERE id = %(id)s FOR UPDATE
