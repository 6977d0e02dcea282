-- The longest-waiting job of each type. Says that an id is a text, so that no claim is led to it (0010_indexes.sql).
CREATE INDEX job_wait ON "PlatformJob" (type, (coalesce("requeuedAt", "queuedAt")))
    WHERE status = 'QUEUED' AND "nextRetryAt" IS NULL AND id >= '';
-- What counts against a type's cap; the same, so that no count of a tenant's runs is led to it: while an old transaction keeps
-- dead entries, that would read all of the type.
CREATE INDEX job_live_of_type ON "PlatformJob" (type) WHERE status IN ('RUNNING', 'CANCEL_REQUESTED') AND id >= '';
