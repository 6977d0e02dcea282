-- Folds failures into groups and counts. One folder at a time: whoever finds the lock taken does nothing.
-- A group that was fixed has regressed when a run fails in it that began after the fix: runs under way finish as they began.
WITH free AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(hashtextextended('detiq.fold_failures', 0)) AS mine
),
taken AS MATERIALIZED (
    DELETE FROM failure_delta
     WHERE ctid = ANY (ARRAY(SELECT ctid FROM failure_delta WHERE (SELECT mine FROM free) LIMIT %(limit)s))
    RETURNING *
),
-- Locked before they are written, so that what a person says of a group at this moment is seen or comes after.
found AS MATERIALIZED (
    SELECT fingerprint, state, changed_at FROM failure_group
     WHERE fingerprint IN (SELECT fingerprint FROM taken)
     ORDER BY fingerprint FOR UPDATE
),
regressed AS MATERIALIZED (
    SELECT f.fingerprint
      FROM found f
      JOIN taken t USING (fingerprint)
     WHERE f.state = 'FIX_DEPLOYED' AND t.n > 0
     GROUP BY f.fingerprint, f.changed_at
    HAVING max(coalesce(t.started_at, t.at)) > f.changed_at
),
groups AS (
    INSERT INTO failure_group AS g (fingerprint, type, failure_type, sample, job_id, first_at, last_at, n, dead)
    SELECT fingerprint, (array_agg(type ORDER BY at DESC))[1], (array_agg(failure_type ORDER BY at DESC))[1],
           (array_agg(sample ORDER BY at DESC))[1], (array_agg(job_id ORDER BY at DESC))[1],
           min(at), max(at), sum(n), sum(dead)
      FROM taken
     GROUP BY 1
     ORDER BY 1
    ON CONFLICT (fingerprint) DO UPDATE
       SET failure_type = EXCLUDED.failure_type, sample = EXCLUDED.sample, job_id = EXCLUDED.job_id,
           first_at = least(g.first_at, EXCLUDED.first_at), last_at = greatest(g.last_at, EXCLUDED.last_at),
           n = g.n + EXCLUDED.n, dead = g.dead + EXCLUDED.dead,
           state = CASE WHEN g.fingerprint IN (SELECT fingerprint FROM regressed) THEN 'REGRESSED' ELSE g.state END,
           changed_at = CASE WHEN g.fingerprint IN (SELECT fingerprint FROM regressed) THEN clock_timestamp()
                             ELSE g.changed_at END,
           changed_by = CASE WHEN g.fingerprint IN (SELECT fingerprint FROM regressed) THEN %(actor)s
                             ELSE g.changed_by END
),
changes AS (
    INSERT INTO failure_group_change (fingerprint, from_state, to_state, actor, reason)
    SELECT fingerprint, 'FIX_DEPLOYED', 'REGRESSED', %(actor)s, 'it failed again in a run that began after the fix'
      FROM regressed
),
tenants AS (
    INSERT INTO failure_group_tenant AS t (fingerprint, tenant_id, n, first_at, last_at)
    SELECT fingerprint, tenant_id, sum(n), min(at), max(at)
      FROM taken
     WHERE n > 0
     GROUP BY 1, 2
     ORDER BY 1, 2
    ON CONFLICT (fingerprint, tenant_id) DO UPDATE
       SET n = t.n + EXCLUDED.n, first_at = least(t.first_at, EXCLUDED.first_at),
           last_at = greatest(t.last_at, EXCLUDED.last_at)
),
causes AS (
    INSERT INTO failure_cause AS c (grain, at, type, failure_type, fingerprint, n, dead)
    SELECT g.grain, date_trunc(g.unit, at, 'UTC'), type, failure_type, fingerprint, sum(n), sum(dead)
      FROM taken, (VALUES ('m', 'minute'), ('h', 'hour'), ('d', 'day')) AS g (grain, unit)
     GROUP BY 1, 2, 3, 4, 5
     ORDER BY 1, 2, 5, 3, 4
    ON CONFLICT (grain, at, fingerprint, type, failure_type) DO UPDATE SET n = c.n + EXCLUDED.n, dead = c.dead + EXCLUDED.dead
),
by_tenant AS (
    INSERT INTO failure_tenant AS c (grain, at, tenant_id, type, failure_type, n, dead)
    SELECT g.grain, date_trunc(g.unit, at, 'UTC'), tenant_id, type, failure_type, sum(n), sum(dead)
      FROM taken, (VALUES ('m', 'minute'), ('h', 'hour'), ('d', 'day')) AS g (grain, unit)
     GROUP BY 1, 2, 3, 4, 5
     ORDER BY 1, 2, 3, 4, 5
    ON CONFLICT (grain, at, tenant_id, type, failure_type) DO UPDATE SET n = c.n + EXCLUDED.n, dead = c.dead + EXCLUDED.dead
)
SELECT count(*) AS folded, (SELECT count(*) FROM regressed) AS regressed FROM taken
