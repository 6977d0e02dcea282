-- A job as the trash keeps it. As JSON a column that is NULL and one that holds the JSON value null read the same: those
-- that hold it are named under a key that no column has.
CREATE OR REPLACE FUNCTION detiq_trash(job "PlatformJob") RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT to_jsonb(job) || CASE WHEN 'null' IN (job.config, job.result, job.checkpoint)
                                 THEN jsonb_build_object('json null in', to_jsonb(array_remove(ARRAY[
                                          CASE WHEN job.config = 'null' THEN 'config' END,
                                          CASE WHEN job.result = 'null' THEN 'result' END,
                                          CASE WHEN job.checkpoint = 'null' THEN 'checkpoint' END], NULL)))
                                 ELSE '{}' END
$$;

-- The job that the trash keeps, equal in every column. A config is never NULL.
CREATE OR REPLACE FUNCTION detiq_restored(kept jsonb) RETURNS "PlatformJob"
LANGUAGE plpgsql STABLE AS $$
DECLARE
    job "PlatformJob" := jsonb_populate_record(NULL::"PlatformJob", kept);
BEGIN
    job.config := coalesce(job.config, 'null');
    IF kept -> 'json null in' ? 'result' THEN
        job.result := 'null';
    END IF;
    IF kept -> 'json null in' ? 'checkpoint' THEN
        job.checkpoint := 'null';
    END IF;
    RETURN job;
END
$$;
