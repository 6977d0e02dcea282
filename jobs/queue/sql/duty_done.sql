INSERT INTO sweep_duty AS d (name, ok_at, changed, error)
VALUES (%(name)s, CASE WHEN %(error)s::text IS NULL THEN clock_timestamp() END, %(changed)s, %(error)s)
ON CONFLICT (name) DO UPDATE
   SET ok_at = coalesce(EXCLUDED.ok_at, d.ok_at), changed = d.changed + EXCLUDED.changed, error = EXCLUDED.error,
       looked_at = clock_timestamp()
