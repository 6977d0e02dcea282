-- A type's setting, if it is still in the version that was seen (0: there was none).
INSERT INTO type_setting AS s (type, cap, unlimited, max_run_seconds, ends_at, previous_cap, previous_unlimited, updated_by)
SELECT %(name)s, %(cap)s::integer, %(unlimited)s, %(max_run_seconds)s::integer,
       coalesce(%(ends_at)s::timestamptz, clock_timestamp() + make_interval(secs => %(ends_in_seconds)s)),
       %(previous_cap)s::integer, %(previous_unlimited)s, %(actor)s
 WHERE %(seen)s = 0 OR EXISTS (SELECT FROM type_setting WHERE type = %(name)s)
    ON CONFLICT (type) DO UPDATE
   SET cap = EXCLUDED.cap, unlimited = EXCLUDED.unlimited, max_run_seconds = EXCLUDED.max_run_seconds,
       ends_at = EXCLUDED.ends_at, previous_cap = EXCLUDED.previous_cap,
       previous_unlimited = EXCLUDED.previous_unlimited, version = s.version + 1,
       updated_at = clock_timestamp(), updated_by = EXCLUDED.updated_by
 WHERE s.version = %(seen)s
RETURNING version, ends_at
