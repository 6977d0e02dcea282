-- Is a row's start that of our run? A program that knows no time shorter than a millisecond may have written back the row it
-- read. No later run can be taken for ours by that: it starts after ours, and what is cut off makes ours earlier.
CREATE OR REPLACE FUNCTION detiq_same_start(p_rows timestamptz, p_ours timestamptz) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT p_rows IS NOT DISTINCT FROM p_ours OR p_rows IS NOT DISTINCT FROM date_trunc('milliseconds', p_ours)
$$;

-- Ends runs. `p_ends` is an array of objects:
--   id, worker (null: a run without one), started, kind: done | retry | dead | cancelled | release
--   result (json, kind done), error, failureType, fingerprint, sign, delay (seconds, kind retry), reason, beat (see below),
--   lost (its process died: the next run has a process of its own)
-- A run is ended only by whoever holds it: same worker, same start. With `beat` (the sweep, which holds nothing), only
-- while its last sign of life is still the one that was judged.
-- Answers one row for each: the state it was found in, and whether it was changed. A job that was asked to cancel
-- becomes CANCELLED whatever its run ended in, except that a result is a result.
CREATE OR REPLACE FUNCTION detiq_finish(p_actor text, p_ends jsonb)
RETURNS TABLE (job_id text, changed boolean, found text, now_is text)
LANGUAGE plpgsql
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
SET jit = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_sort = on
AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('detiq.actor', p_actor, true), set_config('detiq.reason', '', true), set_config('detiq.reasons', '', true);
    IF jsonb_path_exists(p_ends, '$[*] ? (@.reason != "")') THEN
        PERFORM set_config('detiq.reasons', (SELECT jsonb_object_agg(e ->> 'id', e ->> 'reason')::text FROM jsonb_array_elements(p_ends) e WHERE e ->> 'reason' <> ''), true);
    END IF;
    IF NOT jsonb_path_exists(p_ends, '$[*] ? (@.kind != "done" || exists(@.beat))') THEN
    RETURN QUERY
    WITH ended AS MATERIALIZED (
        SELECT e ->> 'id' AS id, e ->> 'worker' AS worker, (e ->> 'started')::timestamptz AS started, e -> 'result' AS result
          FROM jsonb_array_elements(p_ends) e
    ), target AS MATERIALIZED (
        SELECT j.id, j.status::text AS status, j."workerId" AS holder, e.result,
               j.status IN ('RUNNING', 'CANCEL_REQUESTED')
               AND j."workerId" IS NOT DISTINCT FROM e.worker
               AND detiq_same_start(j."startedAt", e.started) AS ours
          FROM ended e
          JOIN "PlatformJob" j ON j.id = e.id
         ORDER BY j.id
           FOR UPDATE OF j
    ), moved AS (
        UPDATE "PlatformJob" j
           SET status = 'DONE', "finishedAt" = clock_timestamp(), "heartbeatAt" = NULL, "workerId" = NULL, progress = 100,
               result = t.result, error = NULL, "failureType" = NULL, fingerprint = NULL, "lostCount" = 0, "nextRetryAt" = NULL
          FROM target t
         WHERE t.ours AND j.id = t.id
        RETURNING j.id
    )
    SELECT e.id, coalesce(t.ours, false),
           CASE WHEN t.id IS NULL THEN NULL WHEN t.ours OR t.status NOT IN ('RUNNING', 'CANCEL_REQUESTED') THEN t.status
                ELSE t.status || ' (the run of ' || coalesce(t.holder, 'another') || ')' END,
           CASE WHEN t.ours THEN 'DONE' END
      FROM ended e
      LEFT JOIN target t ON t.id = e.id;
    RETURN;
    END IF;
    PERFORM set_config('detiq.signs', coalesce(
        (SELECT jsonb_object_agg(e ->> 'id', e -> 'sign') FROM jsonb_array_elements(p_ends) e WHERE e ? 'sign')::text, ''
    ), true);
    RETURN QUERY
    WITH ended AS MATERIALIZED (
        SELECT e ->> 'id' AS id, e ->> 'worker' AS worker, (e ->> 'started')::timestamptz AS started,
               e ->> 'kind' AS kind, e -> 'result' AS result, e ->> 'error' AS error,
               e ->> 'failureType' AS failure_type, e ->> 'fingerprint' AS fingerprint,
               (e ->> 'delay')::double precision AS delay, (e ->> 'beat')::timestamptz AS beat,
               coalesce((e ->> 'lost')::boolean, false) AS lost
          FROM jsonb_array_elements(p_ends) e
    ), target AS MATERIALIZED (
        SELECT j.id, j.status::text AS status, j.dlq, j."workerId" AS holder, e.worker, e.started, e.kind, e.result,
               e.error, e.failure_type, e.fingerprint, e.delay, e.lost,
               j.status IN ('RUNNING', 'CANCEL_REQUESTED')
               AND j."workerId" IS NOT DISTINCT FROM e.worker
               AND detiq_same_start(j."startedAt", e.started)
               AND (e.beat IS NULL OR coalesce(j."heartbeatAt", j."startedAt", j."queuedAt") = e.beat)
               AND (e.kind <> 'cancelled' OR j.status = 'CANCEL_REQUESTED') AS ours
          FROM ended e
          JOIN "PlatformJob" j ON j.id = e.id
         ORDER BY j.id
           FOR UPDATE OF j
    ), decided AS (
        SELECT t.*,
               CASE WHEN t.kind = 'done' THEN 'DONE'
                    WHEN t.status = 'CANCEL_REQUESTED' THEN 'CANCELLED'
                    WHEN t.kind = 'retry' THEN 'RETRY_WAIT'
                    WHEN t.kind = 'dead' THEN 'FAILED'
                    WHEN t.kind = 'release' THEN 'QUEUED'
               END AS next
          FROM target t
         WHERE t.ours
    ), moved AS (
        UPDATE "PlatformJob" j
           SET status = d.next,
               "finishedAt" = CASE WHEN d.next <> 'QUEUED' THEN clock_timestamp() END,
               "requeuedAt" = CASE WHEN d.next = 'QUEUED' THEN clock_timestamp() ELSE j."requeuedAt" END,
               "startedAt" = CASE WHEN d.next <> 'QUEUED' THEN j."startedAt" END,
               "heartbeatAt" = NULL,
               "workerId" = NULL,
               progress = CASE WHEN d.next = 'DONE' THEN 100 ELSE j.progress END,
               result = CASE WHEN d.next = 'DONE' THEN d.result
                             WHEN d.next IN ('RETRY_WAIT', 'FAILED') AND d.failure_type IS NOT NULL
                                  AND (j.result IS NULL OR jsonb_typeof(j.result) IN ('object', 'null'))
                             THEN coalesce(nullif(j.result, 'null'), '{}') || jsonb_build_object('failureType', d.failure_type)
                             ELSE j.result END,
               error = CASE WHEN d.next = 'DONE' THEN NULL
                            WHEN d.next IN ('RETRY_WAIT', 'FAILED') THEN d.error
                            ELSE j.error END,
               "failureType" = CASE WHEN d.next = 'DONE' THEN NULL
                                    WHEN d.next IN ('RETRY_WAIT', 'FAILED') THEN d.failure_type
                                    ELSE j."failureType"::text END,
               fingerprint = CASE WHEN d.next = 'DONE' THEN NULL
                                  WHEN d.next IN ('RETRY_WAIT', 'FAILED') THEN d.fingerprint
                                  ELSE j.fingerprint END,
               "retryCount" = CASE WHEN d.next IN ('RETRY_WAIT', 'FAILED') THEN least(greatest(j."retryCount", 0)::bigint + 1, 2147483647)
                                   ELSE j."retryCount" END,
               "lostCount" = CASE WHEN d.next = 'DONE' THEN 0
                                  WHEN d.lost AND d.next IN ('RETRY_WAIT', 'FAILED') THEN least(j."lostCount"::bigint + 1, 2147483647)
                                  ELSE j."lostCount" END,
               "nextRetryAt" = CASE WHEN d.next = 'RETRY_WAIT'
                                    THEN clock_timestamp() + make_interval(secs => d.delay) END,
               dlq = CASE WHEN d.next = 'FAILED' THEN true ELSE j.dlq END,
               "dlqAt" = CASE WHEN d.next = 'FAILED' THEN clock_timestamp() ELSE j."dlqAt" END,
               "dlqReason" = CASE WHEN d.next = 'FAILED' THEN d.error ELSE j."dlqReason" END
          FROM decided d
         WHERE j.id = d.id
        RETURNING j.id, j.status::text AS status
    )
    SELECT e.id, m.id IS NOT NULL,
           CASE WHEN t.id IS NULL THEN NULL WHEN t.ours OR t.status NOT IN ('RUNNING', 'CANCEL_REQUESTED') THEN t.status
                ELSE t.status || ' (the run of ' || coalesce(t.holder, 'another') || ')' END,
           m.status
      FROM ended e
      LEFT JOIN target t ON t.id = e.id
      LEFT JOIN moved m ON m.id = e.id;
END
$$;

DROP FUNCTION IF EXISTS detiq_turn(text, jsonb, integer, text[], integer, jsonb, text);
DROP FUNCTION IF EXISTS detiq_turn(text, jsonb, integer, text[], integer, jsonb, text, double precision);
DROP FUNCTION IF EXISTS detiq_turn(text, jsonb, integer, text[], integer, jsonb, text, double precision, boolean);
DROP FUNCTION IF EXISTS detiq_turn(text, jsonb, integer, text[], integer, jsonb, text, double precision, boolean, boolean);

-- One turn of a worker: what ended and what may start now, in one statement and one commit. `p_quiet`: nobody is told; the
-- worker tells them within moments (`detiq_wake`), since commits that notify wait for each other.
CREATE OR REPLACE FUNCTION detiq_turn(
    p_worker text, p_ends jsonb,
    p_slots integer, p_types text[], p_tenant_cap integer, p_type_caps jsonb, p_after text,
    p_relief double precision, p_strict boolean, p_quiet boolean
)
RETURNS TABLE (ended boolean, job_id text, changed boolean, found text, now_is text,
               tenant_id text, project_id text, job_type text, job_name text, config text,
               checkpoint text, retry_count integer, lost_count integer, started_at timestamptz)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    IF p_quiet THEN
        PERFORM set_config('detiq.quiet', 'on', true);
    END IF;
    IF jsonb_array_length(p_ends) > 0 THEN
        RETURN QUERY
        SELECT true, f.job_id, f.changed, f.found, f.now_is, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text,
               NULL::text, NULL::integer, NULL::integer, NULL::timestamptz
          FROM detiq_finish(p_worker, p_ends) f;
    END IF;
    IF p_slots > 0 AND p_strict THEN
        RETURN QUERY
        SELECT false, c.job_id, NULL::boolean, NULL::text, NULL::text, c.tenant_id, c.project_id, c.job_type, c.job_name,
               c.config, c.checkpoint, c.retry_count, c.lost_count, c.started_at
          FROM detiq_claim_strict(p_worker, p_slots, p_types, p_tenant_cap, p_type_caps) c;
    ELSIF p_slots > 0 THEN
        RETURN QUERY
        SELECT false, c.job_id, NULL::boolean, NULL::text, NULL::text, c.tenant_id, c.project_id, c.job_type, c.job_name,
               c.config, c.checkpoint, c.retry_count, c.lost_count, c.started_at
          FROM detiq_claim(p_worker, p_slots, p_types, p_tenant_cap, p_type_caps, p_after, p_relief) c
         ORDER BY c.tenant_id <= p_after, c.tenant_id;  -- in the ring's own order: the next turn begins after the last
    END IF;
END
$$;

-- Tells other workers that there may be room or work, and consoles that something changed.
CREATE OR REPLACE FUNCTION detiq_wake(p_actor text) RETURNS void
LANGUAGE sql AS $$
    SELECT pg_notify('detiq_jobs', left(p_actor, 200)), pg_notify('detiq_changed', '')
$$;
