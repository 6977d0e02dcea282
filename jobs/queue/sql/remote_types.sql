-- The job types that another service runs; all of them, or one.
SELECT type, url, secret, previous_secret, previous_until, first_answer_seconds, silence_seconds, longest_run_seconds,
       created_by, created_at, updated_by, updated_at,
       coalesce(previous_until > clock_timestamp(), false) AS overlaps
  FROM remote_type
 WHERE %(type)s::text IS NULL OR type = %(type)s
 ORDER BY type
