-- One replica at a time, by the database's clock: no row when somebody has been at it within the lease. What is returned
-- is the key to go on with; a later holder's makes it void.
INSERT INTO sweep_duty AS d (name, looked_at)
VALUES ('retention', clock_timestamp())
ON CONFLICT (name) DO UPDATE
   SET looked_at = clock_timestamp()
 WHERE d.looked_at < clock_timestamp() - make_interval(secs => %(lease_seconds)s)
RETURNING looked_at AS key
