-- Progress of several runs at once, and a sign of life with it. The step is merged into an object in `result`, where
-- older readers look for it, and never replaces anything else there.
WITH moved AS (
    UPDATE "PlatformJob" j
       SET progress = r.percent,
           "currentStep" = r.step,
           result = CASE WHEN j.result IS NULL OR jsonb_typeof(j.result) IN ('object', 'null')
                         THEN coalesce(nullif(j.result, 'null'), '{}') || jsonb_build_object('step', r.step)
                         ELSE j.result END,
           "progressAt" = CASE WHEN j.progress = r.percent AND j."currentStep" IS NOT DISTINCT FROM r.step
                               THEN j."progressAt" ELSE clock_timestamp() END,
           "heartbeatAt" = clock_timestamp()
      FROM unnest(%(ids)s::text[], %(starts)s::timestamptz[], %(percents)s::int[], %(steps)s::text[])
           AS r (id, started, percent, step)
     WHERE j.id = r.id AND detiq_same_start(j."startedAt", r.started) AND j."workerId" = %(worker)s
       AND j.status IN ('RUNNING', 'CANCEL_REQUESTED')
    RETURNING j.id
)
-- Pages that show it are told: one hint for all of them.
SELECT pg_notify('detiq_changed', '') FROM moved LIMIT 1
