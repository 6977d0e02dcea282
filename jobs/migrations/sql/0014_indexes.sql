-- The longest-waiting job of each type. Says that an id is a text, so that no claim is led to it (0010_indexes.sql).
CREATE INDEX job_wait ON "PlatformJob" (type, (coalesce("requeuedAt", "queuedAt")))
    WHERE status = 'QUEUED' AND "nextRetryAt" IS NULL AND id >= '';
