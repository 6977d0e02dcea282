-- Counts the jobs anew and puts right what the counters say otherwise: a TRUNCATE, a restore without triggers, a hand in
-- the tables. Nothing is folded meanwhile, and what is not folded yet is counted in, so that no change is lost or counted
-- twice. Answers how many counters were wrong, and by how many jobs together; nothing while somebody else folds.
CREATE OR REPLACE FUNCTION detiq_recount() RETURNS TABLE (counters bigint, jobs bigint)
LANGUAGE plpgsql
SET jit = off
AS $$
DECLARE
    states_ record;
    types_  record;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('detiq.fold', 0)) THEN
        RETURN;
    END IF;
    WITH wrong AS MATERIALIZED (
        SELECT c.tenant_id, c.type, c.state, sum(c.n)::bigint AS n
          FROM (SELECT "tenantId"::text AS tenant_id, p.type::text AS type, detiq_state(status::text, dlq) AS state, count(*) AS n
                  FROM "PlatformJob" p
                 GROUP BY 1, 2, 3
                UNION ALL
                SELECT s.tenant_id, s.type, s.state, -s.n FROM tally_state s
                UNION ALL
                SELECT d.tenant_id, d.type, d.from_state, d.n FROM tally_delta d WHERE d.from_state IS NOT NULL
                UNION ALL
                SELECT d.tenant_id, d.type, d.to_state, -d.n FROM tally_delta d WHERE d.to_state IS NOT NULL) c
         GROUP BY 1, 2, 3
        HAVING sum(c.n) <> 0
    ), mended AS (
        INSERT INTO tally_state AS s (tenant_id, type, state, n)
        SELECT w.tenant_id, w.type, w.state, w.n FROM wrong w ORDER BY 1, 2, 3
        ON CONFLICT (tenant_id, type, state) DO UPDATE SET n = s.n + EXCLUDED.n
    )
    SELECT count(*) AS counters, coalesce(sum(abs(w.n)), 0) AS jobs INTO states_ FROM wrong w;
    -- The counters without tenants follow those with; they may be wrong by themselves.
    WITH wrong AS MATERIALIZED (
        SELECT c.type, c.state, sum(c.n)::bigint AS n
          FROM (SELECT s.type, s.state, s.n FROM tally_state s
                UNION ALL
                SELECT t.type, t.state, -t.n FROM tally_type t) c
         GROUP BY 1, 2
        HAVING sum(c.n) <> 0
    ), mended AS (
        INSERT INTO tally_type AS t (type, state, n)
        SELECT w.type, w.state, w.n FROM wrong w ORDER BY 1, 2
        ON CONFLICT (type, state) DO UPDATE SET n = t.n + EXCLUDED.n
    )
    SELECT count(*) AS counters, coalesce(sum(abs(w.n)), 0) AS jobs INTO types_ FROM wrong w;
    RETURN QUERY SELECT states_.counters + types_.counters, (states_.jobs + types_.jobs)::bigint;
END
$$;
