-- What the worker that follows runs wants to know: did it end, how long has the service been silent, how long may it run?
SELECT id, ended_at IS NOT NULL AS ended,
       extract(epoch FROM clock_timestamp() - coalesce(heard_at, created_at))::double precision AS silent,
       extract(epoch FROM deadline_at - clock_timestamp())::double precision AS remaining
  FROM remote_run
 WHERE id = ANY (%(ids)s::text[])
