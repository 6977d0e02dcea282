-- What failed once and now does not is well, also when there was nothing to do.
UPDATE sweep_duty SET error = NULL, ok_at = clock_timestamp(), looked_at = clock_timestamp()
 WHERE error IS NOT NULL AND name = ANY (%(names)s)
