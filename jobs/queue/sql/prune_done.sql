-- How a target of retention fares: `ended` when nothing was left to do; what is left is counted no further than some bound.
INSERT INTO sweep_duty AS d (name, ok_at, changed, error, rows_left)
VALUES (%(name)s, CASE WHEN %(ended)s THEN clock_timestamp() END, %(changed)s, %(error)s, %(rows_left)s)
ON CONFLICT (name) DO UPDATE
   SET ok_at = coalesce(EXCLUDED.ok_at, d.ok_at), changed = d.changed + EXCLUDED.changed, error = EXCLUDED.error,
       rows_left = coalesce(EXCLUDED.rows_left, d.rows_left), looked_at = clock_timestamp()
