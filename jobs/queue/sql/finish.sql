SELECT * FROM detiq_finish(%(actor)s, %(ends)s::jsonb)
