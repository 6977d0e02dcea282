-- A hint to workers that the rules of classification have changed; they look now and then without it, too.
CREATE OR REPLACE FUNCTION detiq_rules_changed() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('detiq_rules', '');
    RETURN NULL;
END
$$;
