-- Done for today: the next that looks finds the lease free.
UPDATE sweep_duty
   SET looked_at = clock_timestamp() - make_interval(secs => %(lease_seconds)s),
       ok_at = CASE WHEN %(well)s THEN clock_timestamp() ELSE ok_at END
 WHERE name = 'retention' AND looked_at = %(key)s
