-- Keeps tally_type, the counters by type and state, in step with tally_state, whoever changes that.
CREATE OR REPLACE FUNCTION detiq_count_types() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO tally_type AS t (type, state, n)
        SELECT type, state, sum(n) FROM new_rows GROUP BY 1, 2 HAVING sum(n) <> 0 ORDER BY 1, 2
        ON CONFLICT (type, state) DO UPDATE SET n = t.n + EXCLUDED.n;
    ELSIF TG_OP = 'UPDATE' THEN
        INSERT INTO tally_type AS t (type, state, n)
        SELECT type, state, sum(n)
          FROM (SELECT type, state, n FROM new_rows UNION ALL SELECT type, state, -n FROM old_rows) c
         GROUP BY 1, 2 HAVING sum(n) <> 0 ORDER BY 1, 2
        ON CONFLICT (type, state) DO UPDATE SET n = t.n + EXCLUDED.n;
    ELSE
        INSERT INTO tally_type AS t (type, state, n)
        SELECT type, state, -sum(n) FROM old_rows GROUP BY 1, 2 HAVING sum(n) <> 0 ORDER BY 1, 2
        ON CONFLICT (type, state) DO UPDATE SET n = t.n + EXCLUDED.n;
    END IF;
    RETURN NULL;
END
$$;
