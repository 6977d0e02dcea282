-- One type's setting; none: all by default.
SELECT type AS name, cap, unlimited, max_run_seconds, ends_at, previous_cap, previous_unlimited, version,
       updated_at, updated_by, ends_at > clock_timestamp() AS lasts
  FROM type_setting
 WHERE type = %(name)s
