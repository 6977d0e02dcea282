-- Counting takes no more than a small share of the time, however many jobs there are.
UPDATE sweep_duty
   SET ok_at = clock_timestamp(), error = NULL,
       grace_until = clock_timestamp() + make_interval(secs => greatest(%(least_seconds)s, %(times)s * extract(epoch FROM clock_timestamp() - looked_at)))
 WHERE name = 'recount'
