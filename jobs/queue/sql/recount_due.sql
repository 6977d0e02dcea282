-- Takes the next recount for this sweeper, if it is due. One that fails is tried again after an hour.
INSERT INTO sweep_duty AS d (name, looked_at, grace_until)
VALUES ('recount', clock_timestamp(), clock_timestamp() + interval '1 hour')
ON CONFLICT (name) DO UPDATE
   SET looked_at = EXCLUDED.looked_at, grace_until = EXCLUDED.grace_until
 WHERE coalesce(d.grace_until, '-infinity') <= clock_timestamp()
RETURNING name
