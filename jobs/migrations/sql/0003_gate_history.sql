-- What claims had to obey, and from when: every committed change of a cap, a pause or the flag, written at its commit
-- while the gate is held alone. A claim that starts before `at` obeyed the version before, one after it this one.
CREATE TABLE gate_history (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    source text NOT NULL,
    key    text NOT NULL,
    row    jsonb
);
CREATE INDEX gate_history_key ON gate_history (source, key, id);

-- From here on it is known. `begin` says since when.
INSERT INTO gate_history (id, source, key) OVERRIDING SYSTEM VALUE VALUES (0, 'begin', '');
INSERT INTO gate_history (source, key, row) SELECT 'queue_pause', id::text, to_jsonb(p) FROM queue_pause p WHERE lifted_at IS NULL;
INSERT INTO gate_history (source, key, row) SELECT 'tenant_setting', tenant_id, to_jsonb(s) FROM tenant_setting s;
INSERT INTO gate_history (source, key, row) SELECT 'type_setting', type, to_jsonb(s) FROM type_setting s;
INSERT INTO gate_history (source, key, row)
SELECT 'SystemConfig', key, to_jsonb(c) FROM "SystemConfig" c WHERE key = 'queue.paused';

-- Rows whose columns cannot be true together, so that the sweep finds them without looking for them: it is empty.
-- It names no column that a heartbeat or a report of progress writes.
CREATE INDEX job_impossible ON "PlatformJob" (id)
    WHERE status = 'QUEUED' AND "workerId" IS NOT NULL
       OR status IN ('QUEUED', 'RUNNING', 'CANCEL_REQUESTED', 'DONE', 'CANCELLED') AND dlq
       OR status IN ('DONE', 'CANCELLED') AND "finishedAt" IS NULL
       OR status = 'FAILED' AND dlq AND "nextRetryAt" IS NOT NULL;
