-- Is the comparison of the counters due, or going on?
SELECT name FROM sweep_duty WHERE name = 'recount' AND (grace_until <= clock_timestamp() OR ok_at IS NULL OR ok_at < looked_at)
