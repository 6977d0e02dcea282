-- Failures by cause, for the group pages.

-- The group of a failure: its fingerprint, or for a writer that gives none one made of its type and the first line of what
-- it said, digits and quoted values left out. Coarser than the real one, but 4,000 such failures read as few causes too.
-- An index is built on it: what it answers must not change.
CREATE OR REPLACE FUNCTION detiq_group(type text, fingerprint text, error text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN fingerprint <> '' THEN left(fingerprint, 200)
                ELSE 'sql:' || substr(md5(type || chr(10) || regexp_replace(regexp_replace(lower(
                         left(ltrim(coalesce(error, ''), E' \t\r\n'), 300)), E'[\r\n].*$', ''),
                         '("[^"]*"|''[^'']*''|[0-9a-f-]*[0-9][0-9a-f-]*)', '#', 'g')), 1, 24)
           END
$$;

-- Appends the failures of one statement: `failures` are its rows that failed or were dead-lettered, as the recorder sees
-- them. Called by the recorder, as the tables' owner.
CREATE OR REPLACE FUNCTION detiq_record_failures(at_ timestamptz, failures jsonb) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO failure_delta (at, fingerprint, type, failure_type, tenant_id, n, dead, started_at, job_id, sample)
    SELECT at_, detiq_group(f.type, f.fingerprint, f.error), f.type, coalesce(left(f.failure_type, 100), ''), f.tenant,
           count(*) FILTER (WHERE f.run), count(*) FILTER (WHERE f.dead), max(f.started), max(f.id),
           coalesce(max(left(f.error, 1000)), '')
      FROM jsonb_to_recordset(failures) AS f (id text, type text, tenant text, failure_type text, fingerprint text,
                                              error text, started timestamptz, run boolean, dead boolean)
     GROUP BY 2, 3, 4, 5;
    -- Whom to tell is looked up by whoever tells.
    INSERT INTO notice_due (tenant_id, job_id, type, failure_type, error, at)
    SELECT f.tenant, f.id, f.type, f.failure_type, coalesce(left(f.error, 1000), ''), at_
      FROM jsonb_to_recordset(failures) AS f (id text, type text, tenant text, failure_type text, error text, dead boolean)
     WHERE f.dead;
END
$$;
