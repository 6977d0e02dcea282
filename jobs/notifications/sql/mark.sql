-- Is it time again? Then it is noted as done.
INSERT INTO alert_mark AS m (name, at) VALUES (%(name)s, %(now)s)
ON CONFLICT (name) DO UPDATE SET at = EXCLUDED.at WHERE m.at <= %(now)s::timestamptz - make_interval(secs => %(every)s)
RETURNING 1 AS due
