-- The history and the counters, written by triggers so that a change by another program is there too.
-- They run as the tables' owner: whoever may write a job needs no right on the history. And in UTC: a table of another
-- program may hold times without zone.

CREATE OR REPLACE FUNCTION detiq_state(status text, dlq boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN status = 'FAILED' AND dlq THEN 'DEAD_LETTERED' ELSE status END
$$;

-- Upper bounds in seconds of the buckets that run times and waits are counted in; the last bucket has none.
CREATE OR REPLACE FUNCTION detiq_bucket(seconds double precision) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT width_bucket(
        seconds,
        ARRAY[0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200]::double precision[]
    )::smallint
$$;

-- How long since a moment, in seconds: never negative, since clocks differ; NULL for an infinite one, which PostgreSQL
-- before 17 refuses to subtract, and which would spoil every sum that it goes into.
CREATE OR REPLACE FUNCTION detiq_seconds(since timestamptz, until timestamptz) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN isfinite(since) THEN greatest(extract(epoch FROM until - since), 0) END::double precision
$$;

-- Who does this: what the door said in this transaction, else the program and role behind the connection.
CREATE OR REPLACE FUNCTION detiq_actor() RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        nullif(current_setting('detiq.actor', true), ''),
        'sql:' || session_user || coalesce('/' || nullif(current_setting('application_name', true), ''), '')
    )
$$;

-- Why: for this job if the door said so, else for all that this transaction changes.
CREATE OR REPLACE FUNCTION detiq_reason(job_id text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        nullif(current_setting('detiq.reasons', true), '')::jsonb ->> job_id,
        nullif(current_setting('detiq.reason', true), '')
    )
$$;

CREATE OR REPLACE FUNCTION detiq_record_insert() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
SET timezone = 'UTC'
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
DECLARE
    at_ timestamptz := clock_timestamp();
    queued bigint;
BEGIN
    INSERT INTO job_history (job_id, tenant_id, type, to_status, to_dlq, at, actor, reason,
                             worker_id, run_started_at, inline, retry_count)
    SELECT id, "tenantId", type, status, dlq, at_, detiq_actor(), detiq_reason(id),
           "workerId", "startedAt", inline, "retryCount"
      FROM new_rows;

    INSERT INTO tally_delta (minute, tenant_id, type, to_state, n)
    SELECT date_trunc('minute', at_), "tenantId", type, detiq_state(status::text, dlq), count(*)
      FROM new_rows
     GROUP BY 2, 3, 4;

    SELECT count(*) FILTER (WHERE status = 'QUEUED') INTO queued FROM new_rows;
    IF queued > 0 THEN
        PERFORM pg_notify('detiq_jobs', '');
    END IF;
    PERFORM pg_notify('detiq_changed', '');
    RETURN NULL;
END
$$;

-- A session keeps the plan of its first change, which may have been of one row: row by row, a later change of a hundred
-- thousand would be compared with itself for an hour. So the join is by hash whatever the first one was.
CREATE OR REPLACE FUNCTION detiq_record_update() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
SET timezone = 'UTC'
SET plan_cache_mode = force_generic_plan
SET jit = off
SET enable_nestloop = off
SET enable_hashjoin = on
AS $$
DECLARE
    at_       timestamptz := clock_timestamp();
    actor_    text := detiq_actor();
    reason_   text := nullif(current_setting('detiq.reason', true), '');
    reasons_  jsonb := nullif(current_setting('detiq.reasons', true), '');
    signs_    jsonb := nullif(current_setting('detiq.signs', true), '');
    quiet_    boolean := coalesce(current_setting('detiq.quiet', true), '') = 'on';
    moved_    bigint;
    wake_     bigint;
    cancelled text[];
    failed_   bigint;
BEGIN
    WITH moved AS MATERIALIZED (
        SELECT n.id, n."tenantId", n.type, n.inline, n."retryCount", n."failureType", n.fingerprint, n.error,
               o.status::text AS from_status, o.dlq AS from_dlq, n.status::text AS to_status, n.dlq AS to_dlq,
               -- A run that ends is named by the worker and start it had; a run that begins, by those it gets.
               coalesce(n."workerId", o."workerId") AS worker_id,
               coalesce(n."startedAt", o."startedAt") AS run_started_at,
               n."nextRetryAt", n."finishedAt", n."redriveCount", n.progress,
               o.status IN ('RUNNING', 'CANCEL_REQUESTED') AS ran,
               n.status IN ('RETRY_WAIT', 'FAILED') AS failed,
               -- How long it was in the state it leaves: running, or waiting to run.
               CASE WHEN o.status IN ('RUNNING', 'CANCEL_REQUESTED')
                    THEN detiq_seconds(o."startedAt", at_)
                    WHEN o.status = 'QUEUED'
                    THEN detiq_seconds(coalesce(o."requeuedAt", o."queuedAt"), at_)
               END AS seconds
          FROM new_rows n
          JOIN old_rows o ON o.id = n.id
         WHERE n.status IS DISTINCT FROM o.status OR n.dlq IS DISTINCT FROM o.dlq
    ), history AS (
        INSERT INTO job_history (job_id, tenant_id, type, from_status, from_dlq, to_status, to_dlq, at, actor, reason,
                                 worker_id, run_started_at, inline, retry_count, failure_type, fingerprint, detail)
        SELECT id, "tenantId", type, from_status, from_dlq, to_status, to_dlq, at_, actor_,
               CASE WHEN reasons_ ? id THEN reasons_ ->> id
                    WHEN reason_ IS NOT NULL THEN reason_
                    WHEN from_status = 'CANCEL_REQUESTED' AND to_status = 'DONE' THEN 'finished before the cancel was seen' END,
               worker_id, run_started_at, inline, "retryCount",
               CASE WHEN failed THEN "failureType" END,
               CASE WHEN failed THEN fingerprint END,
               CASE WHEN to_status = 'DONE' AND ran
                    THEN CASE WHEN "finishedAt" IS NOT NULL THEN jsonb_build_object('finishedAt', "finishedAt"::timestamptz) END
                    WHEN failed OR ran OR from_dlq
                    THEN nullif(jsonb_strip_nulls(jsonb_build_object(
                             'error', CASE WHEN failed THEN left(error, 8000) END,
                             'sign', CASE WHEN failed AND "failureType" IS NOT NULL THEN signs_ -> id END,
                             'nextRetryAt', CASE WHEN to_status = 'RETRY_WAIT' THEN "nextRetryAt"::timestamptz END,
                             'finishedAt', CASE WHEN ran THEN "finishedAt"::timestamptz END,
                             'progress', CASE WHEN ran THEN progress END,
                             'redrive', CASE WHEN from_dlq AND to_status = 'QUEUED' THEN "redriveCount" END
                         )), '{}')
               END
          FROM moved
    ), tally AS (
        INSERT INTO tally_delta (minute, tenant_id, type, from_state, to_state, failure_type, bucket, n, seconds)
        SELECT date_trunc('minute', at_), "tenantId", type,
               detiq_state(from_status, from_dlq), detiq_state(to_status, to_dlq),
               CASE WHEN failed THEN "failureType" END,
               coalesce(detiq_bucket(seconds), 0::smallint), count(*), coalesce(sum(seconds), 0)
          FROM moved
         GROUP BY 2, 3, 4, 5, 6, 7
    )
    SELECT count(*),
           -- A job to start, or room under a cap for one that waits.
           count(*) FILTER (WHERE to_status = 'QUEUED' OR ran AND to_status NOT IN ('RUNNING', 'CANCEL_REQUESTED')),
           (array_agg(id) FILTER (WHERE to_status = 'CANCEL_REQUESTED'
                                     OR from_status = 'CANCEL_REQUESTED' AND to_status = 'CANCELLED'))[1:100],
           count(*) FILTER (WHERE failed AND ran OR to_status = 'FAILED' AND to_dlq)
      INTO moved_, wake_, cancelled, failed_
      FROM moved;

    IF failed_ > 0 THEN
        -- Failures by cause, for the group pages; whom to tell of dead letters is looked up by whoever tells.
        WITH failed AS MATERIALIZED (
            SELECT n.id::text AS id, n.type::text AS type, n."tenantId"::text AS tenant,
                   left(n."failureType"::text, 100) AS failure_type,
                   detiq_group(n.type::text, n.fingerprint, left(n.error, 2000)) AS fingerprint,
                   coalesce(left(n.error, 1000), '') AS error,
                   coalesce(n."startedAt", o."startedAt")::timestamptz AS started,
                   o.status IN ('RUNNING', 'CANCEL_REQUESTED') AS ran, n.status = 'FAILED' AND n.dlq AS dead
              FROM new_rows n
              JOIN old_rows o ON o.id = n.id
             WHERE (n.status IS DISTINCT FROM o.status OR n.dlq IS DISTINCT FROM o.dlq)
               AND (n.status IN ('RETRY_WAIT', 'FAILED') AND o.status IN ('RUNNING', 'CANCEL_REQUESTED')
                    OR n.status = 'FAILED' AND n.dlq)
        ), due AS (
            INSERT INTO notice_due (tenant_id, job_id, type, failure_type, error, at)
            SELECT tenant, id, type, failure_type, error, at_ FROM failed WHERE dead
        )
        INSERT INTO failure_delta (at, fingerprint, type, failure_type, tenant_id, n, dead, started_at, job_id, sample)
        SELECT at_, fingerprint, type, coalesce(failure_type, ''), tenant, count(*) FILTER (WHERE ran),
               count(*) FILTER (WHERE dead), max(started), max(id), max(error)
          FROM failed
         GROUP BY 2, 3, 4, 5;
    END IF;
    IF wake_ > 0 AND NOT quiet_ THEN
        -- With its sender, so that a worker need not wake itself.
        PERFORM pg_notify('detiq_jobs', left(actor_, 200));
    END IF;
    IF cancelled IS NOT NULL THEN
        PERFORM pg_notify('detiq_cancel', id) FROM unnest(cancelled) AS c(id) WHERE octet_length(id) < 7000;
    END IF;
    IF moved_ > 0 AND NOT quiet_ THEN
        PERFORM pg_notify('detiq_changed', '');
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION detiq_record_delete() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
SET timezone = 'UTC'
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
DECLARE
    at_ timestamptz := clock_timestamp();
BEGIN
    INSERT INTO job_history (job_id, tenant_id, type, from_status, from_dlq, at, actor, reason,
                             worker_id, run_started_at, inline, retry_count)
    SELECT id, "tenantId", type, status, dlq, at_, detiq_actor(), detiq_reason(id),
           "workerId", "startedAt", inline, "retryCount"
      FROM old_rows;

    INSERT INTO tally_delta (minute, tenant_id, type, from_state, n)
    SELECT date_trunc('minute', at_), "tenantId", type, detiq_state(status::text, dlq), count(*)
      FROM old_rows
     GROUP BY 2, 3, 4;

    PERFORM pg_notify('detiq_changed', '');
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION detiq_refuse_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;
