-- Folds the deltas into the counters. One folder at a time: whoever finds the lock taken does nothing.
WITH free AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(hashtextextended('detiq.fold', 0)) AS mine
),
taken AS MATERIALIZED (
    DELETE FROM tally_delta
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM tally_delta WHERE (SELECT mine FROM free) LIMIT %(limit)s))
    RETURNING *
),
states AS (
    INSERT INTO tally_state AS s (tenant_id, type, state, n)
    SELECT tenant_id, type, state, sum(n)
      FROM (SELECT tenant_id, type, from_state AS state, -n AS n FROM taken WHERE from_state IS NOT NULL
            UNION ALL
            SELECT tenant_id, type, to_state, n FROM taken WHERE to_state IS NOT NULL) c
     GROUP BY 1, 2, 3 HAVING sum(n) <> 0
     ORDER BY 1, 2, 3
    ON CONFLICT (tenant_id, type, state) DO UPDATE SET n = s.n + EXCLUDED.n
),
flow AS (
    INSERT INTO tally_flow AS m (minute, type, from_state, to_state, bucket, n)
    SELECT minute, type, coalesce(from_state, ''), coalesce(to_state, ''), bucket, sum(n)
      FROM taken
     GROUP BY 1, 2, 3, 4, 5
     ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (minute, type, from_state, to_state, bucket) DO UPDATE SET n = m.n + EXCLUDED.n
),
tenants AS (
    INSERT INTO tally_tenant AS m (minute, tenant_id, started, seconds)
    SELECT minute, tenant_id, coalesce(sum(n) FILTER (WHERE to_state = 'RUNNING'), 0),
           -- A run of hours counts for the last quarter of an hour only: shares are shown of that.
           coalesce(sum(least(seconds, n * 900.0)) FILTER (WHERE from_state IN ('RUNNING', 'CANCEL_REQUESTED')
                                                             AND to_state IS DISTINCT FROM 'CANCEL_REQUESTED'), 0)
      FROM taken
     WHERE to_state = 'RUNNING' OR from_state IN ('RUNNING', 'CANCEL_REQUESTED')
     GROUP BY 1, 2
     ORDER BY 1, 2
    ON CONFLICT (minute, tenant_id) DO UPDATE SET started = m.started + EXCLUDED.started, seconds = m.seconds + EXCLUDED.seconds
),
minutes AS (
    INSERT INTO tally_minute AS m (minute, tenant_id, type, from_state, to_state, failure_type, bucket, n, seconds)
    SELECT minute, tenant_id, type, coalesce(from_state, ''), coalesce(to_state, ''), coalesce(failure_type, ''), bucket,
           sum(n), sum(seconds)
      FROM taken
     GROUP BY 1, 2, 3, 4, 5, 6, 7
     ORDER BY 1, 2, 3, 4, 5, 6, 7
    ON CONFLICT (minute, type, to_state, from_state, tenant_id, failure_type, bucket)
    DO UPDATE SET n = m.n + EXCLUDED.n, seconds = m.seconds + EXCLUDED.seconds
),
totals AS (
    INSERT INTO tally_total AS t (type, from_state, to_state, bucket, n, seconds)
    SELECT type, coalesce(from_state, ''), coalesce(to_state, ''), bucket, sum(n), sum(seconds)
      FROM taken
     GROUP BY 1, 2, 3, 4
     ORDER BY 1, 2, 3, 4
    ON CONFLICT (type, from_state, to_state, bucket)
    DO UPDATE SET n = t.n + EXCLUDED.n, seconds = t.seconds + EXCLUDED.seconds
)
SELECT count(*) AS folded FROM taken
