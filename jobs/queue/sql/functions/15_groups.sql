DROP FUNCTION IF EXISTS detiq_record_failures(timestamptz, jsonb);

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
