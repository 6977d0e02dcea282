-- Retention. The history is append-only for everyone; these two functions, which run as the tables' owner, are the only
-- way out of it, and they lead only out of jobs that are gone. Each call is one short transaction: a kill between two
-- calls loses nothing, and what somebody else has locked is passed over.

-- Guards job_history: a row leaves only while a function below says so, and never that of a job which exists or could be
-- restored.
CREATE OR REPLACE FUNCTION detiq_keep_history() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('detiq.pruning', true) = 'on'
       AND NOT EXISTS (SELECT 1 FROM "PlatformJob" WHERE id = OLD.job_id)
       AND NOT EXISTS (SELECT 1 FROM job_trash WHERE job_id = OLD.job_id)
    THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;

-- Deletes up to `p_limit` jobs that ended longer than `p_keep` ago, with their history and logs. Whatever the caller
-- asks for, a day is kept and a call stays small. The trigger on the jobs counts them out of the tallies; the row that it
-- leaves in the history goes with the rest. A job with very many log lines loses those first, over several calls.
-- `more`: there may be more to do.
CREATE OR REPLACE FUNCTION detiq_prune_jobs(p_keep interval, p_limit integer)
RETURNS TABLE (pruned integer, more boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET timezone = 'UTC' SET lock_timeout = '1s' AS $$
DECLARE
    before_ CONSTANT timestamptz := clock_timestamp() - greatest(p_keep, interval '1 day');
    limit_ CONSTANT integer := least(p_limit, 1000);
    most_lines CONSTANT integer := 5000;
    ids text[];
    lines integer;
BEGIN
    ids := ARRAY(
        SELECT id
          FROM "PlatformJob"
         WHERE status IN ('DONE', 'FAILED', 'CANCELLED') AND NOT dlq AND NOT inline AND "finishedAt" < before_
         ORDER BY "finishedAt", id
         LIMIT limit_
           FOR UPDATE SKIP LOCKED);
    DELETE FROM job_log WHERE id = ANY (ARRAY(SELECT id FROM job_log WHERE job_id = ANY (ids) LIMIT most_lines));
    GET DIAGNOSTICS lines = ROW_COUNT;
    IF lines = most_lines THEN
        RETURN QUERY SELECT 0, true;
        RETURN;
    END IF;
    DELETE FROM "PlatformJob" WHERE id = ANY (ids);
    PERFORM set_config('detiq.pruning', 'on', true);
    DELETE FROM job_history WHERE job_id = ANY (ids);
    PERFORM set_config('detiq.pruning', 'off', true);
    RETURN QUERY SELECT cardinality(ids), cardinality(ids) = limit_;
END
$$;

-- Deletes history and logs of up to `p_limit` jobs that left the table longer than `p_keep` ago: whose trash was emptied,
-- or that another program deleted. Jobs that came back, and that are in the trash, keep theirs.
CREATE OR REPLACE FUNCTION detiq_prune_history(p_keep interval, p_limit integer)
RETURNS TABLE (pruned integer, more boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET timezone = 'UTC' SET lock_timeout = '1s' AS $$
DECLARE
    before_ CONSTANT timestamptz := clock_timestamp() - greatest(p_keep, interval '1 day');
    limit_ CONSTANT integer := least(p_limit, 1000);
    most_lines CONSTANT integer := 5000;
    ids text[];
    lines integer;
BEGIN
    ids := ARRAY(
        SELECT h.job_id
          FROM job_history h
         WHERE h.to_status IS NULL AND h.at < before_
           AND NOT EXISTS (SELECT 1 FROM "PlatformJob" j WHERE j.id = h.job_id)
           AND NOT EXISTS (SELECT 1 FROM job_trash t WHERE t.job_id = h.job_id)
           AND NOT EXISTS (SELECT 1 FROM job_history n WHERE n.job_id = h.job_id AND n.at >= before_)
         ORDER BY h.at
         LIMIT limit_
           FOR UPDATE OF h SKIP LOCKED);
    DELETE FROM job_log WHERE id = ANY (ARRAY(SELECT id FROM job_log WHERE job_id = ANY (ids) LIMIT most_lines));
    GET DIAGNOSTICS lines = ROW_COUNT;
    IF lines = most_lines THEN
        RETURN QUERY SELECT 0, true;
        RETURN;
    END IF;
    PERFORM set_config('detiq.pruning', 'on', true);
    DELETE FROM job_history WHERE job_id = ANY (ids);
    PERFORM set_config('detiq.pruning', 'off', true);
    RETURN QUERY SELECT cardinality(ids), cardinality(ids) = limit_;
END
$$;
