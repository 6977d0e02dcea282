-- It goes well again, although there was nothing to do.
UPDATE sweep_duty SET error = NULL, ok_at = clock_timestamp(), looked_at = clock_timestamp()
 WHERE name = %(name)s AND error IS NOT NULL
