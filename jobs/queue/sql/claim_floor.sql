-- Since when the longest waiting job waits, while many dead rows are not cleaned away: an old transaction holds them, and a claim
-- would read over all that were queued since it began. Claims pass over what is older, by the index alone. Null when that would
-- help nobody: with few dead rows, or with so many jobs waiting that a claim finds some at once. What is committed later than
-- `late_seconds` after its own time waits for the next look.
WITH table_ AS (
    SELECT n_dead_tup >= %(least_dead)s AS many FROM pg_stat_user_tables WHERE relid = to_regclass('"PlatformJob"')
), queued AS MATERIALIZED (
    SELECT coalesce(j."requeuedAt", j."queuedAt")::timestamptz AS since
      FROM "PlatformJob" j
     WHERE j.status = 'QUEUED' AND j."nextRetryAt" IS NULL AND (SELECT many FROM table_)
     LIMIT %(most_queued)s + 1
), floor AS (
    SELECT CASE WHEN (SELECT many FROM table_) AND count(*) <= %(most_queued)s
                THEN least(min(since), clock_timestamp() - make_interval(secs => %(late_seconds)s)) END AS since
      FROM queued
)
INSERT INTO sweep_duty AS d (name, looked_at, grace_until)
SELECT 'claim floor', clock_timestamp(), f.since
  FROM floor f
 WHERE f.since IS NOT NULL OR EXISTS (SELECT 1 FROM sweep_duty WHERE name = 'claim floor' AND grace_until IS NOT NULL)
    ON CONFLICT (name) DO UPDATE SET looked_at = excluded.looked_at, grace_until = excluded.grace_until
RETURNING d.grace_until IS NOT NULL AS set
