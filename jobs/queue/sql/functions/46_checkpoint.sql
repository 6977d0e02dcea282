-- Is there anything to go on from? The JSON value null is nothing; large values are not read to be asked.
CREATE OR REPLACE FUNCTION detiq_kept(checkpoint jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN checkpoint IS NULL THEN false
                WHEN pg_column_size(checkpoint) < 16 THEN checkpoint <> 'null' ELSE true END
$$;

-- Why a type's handler cannot go on from a checkpoint that its version `written` wrote; NULL: it can, or nobody declared a
-- version. The worker that started last tells what the code is now.
CREATE OR REPLACE FUNCTION detiq_outdated(job_type text, written text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    code text := (SELECT versions ->> job_type FROM worker WHERE job_type = ANY (types)
                   ORDER BY started_at DESC, id DESC LIMIT 1);
BEGIN
    RETURN CASE WHEN code <> written THEN
        'its checkpoint was written by version ' || left(written, 100) || ' of its handler, which is version '
        || left(code, 100) || ' now' END;
END
$$;
