-- A tenant's setting, if it is still in the version that was seen (0: there was none). Two who saw the same version: the
-- second one's statement waits for the first one's commit, and then finds another version.
INSERT INTO tenant_setting AS s (tenant_id, cap, unlimited, weight, note, ends_at, previous_cap, previous_unlimited,
                                 updated_by)
SELECT %(name)s, %(cap)s::integer, %(unlimited)s, %(weight)s, %(note)s,
       coalesce(%(ends_at)s::timestamptz, clock_timestamp() + make_interval(secs => %(ends_in_seconds)s)),
       %(previous_cap)s::integer, %(previous_unlimited)s, %(actor)s
 WHERE %(seen)s = 0 OR EXISTS (SELECT FROM tenant_setting WHERE tenant_id = %(name)s)
    ON CONFLICT (tenant_id) DO UPDATE
   SET cap = EXCLUDED.cap, unlimited = EXCLUDED.unlimited, weight = EXCLUDED.weight, note = EXCLUDED.note,
       ends_at = EXCLUDED.ends_at, previous_cap = EXCLUDED.previous_cap,
       previous_unlimited = EXCLUDED.previous_unlimited, version = s.version + 1,
       updated_at = clock_timestamp(), updated_by = EXCLUDED.updated_by
 WHERE s.version = %(seen)s
RETURNING version, ends_at
