SELECT name FROM sweep_duty
 WHERE name = ANY (%(names)s) AND ok_at > clock_timestamp() - make_interval(secs => %(every_seconds)s)
