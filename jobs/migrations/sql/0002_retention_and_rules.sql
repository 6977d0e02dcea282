ALTER TABLE sweep_duty ADD COLUMN IF NOT EXISTS rows_left bigint;

-- The history may be left only through retention.
DROP TRIGGER IF EXISTS detiq_append_only ON job_history;
CREATE TRIGGER detiq_append_only BEFORE UPDATE OR DELETE ON job_history
    FOR EACH ROW EXECUTE FUNCTION detiq_keep_history();
-- Jobs that left the table; what failed and was judged.
CREATE INDEX IF NOT EXISTS job_history_gone ON job_history (at) WHERE to_status IS NULL;
CREATE INDEX IF NOT EXISTS job_history_failed ON job_history (at DESC, id DESC) WHERE failure_type IS NOT NULL;

-- What an admin adds to the built-in rules of classification.
CREATE TABLE failure_rule (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text NOT NULL CHECK (kind IN ('phrase', 'code', 'exception', 'status', 'word')),
    pattern      text NOT NULL CHECK (btrim(pattern) <> '' AND length(pattern) <= 1000),
    failure_type text NOT NULL CHECK (failure_type IN ('TRANSIENT', 'INFRASTRUCTURE', 'LOGICAL', 'FATAL')),
    why          text NOT NULL CHECK (btrim(why) <> '' AND length(why) <= 300),
    position     integer NOT NULL DEFAULT 0,
    enabled      boolean NOT NULL DEFAULT true,
    created_by   text NOT NULL CHECK (created_by <> ''),
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_by   text,
    updated_at   timestamptz
);
CREATE TRIGGER detiq_rules AFTER INSERT OR UPDATE OR DELETE ON failure_rule
    FOR EACH STATEMENT EXECUTE FUNCTION detiq_rules_changed();
