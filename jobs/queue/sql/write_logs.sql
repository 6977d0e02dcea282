INSERT INTO job_log (job_id, run_started_at, at, level, message)
SELECT * FROM unnest(%(ids)s::text[], %(starts)s::timestamptz[], %(ats)s::timestamptz[], %(levels)s::text[], %(messages)s::text[])
