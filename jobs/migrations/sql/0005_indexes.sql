-- What the console looks for. Every one is partial: a job that never failed is in none of them, so that enqueueing,
-- claiming and finishing well cost what they cost before.
-- The jobs of a failure group, newest first, with what tells their states: ten thousand are counted without touching a job.
CREATE INDEX job_group_states ON "PlatformJob" (fingerprint, "queuedAt" DESC, id DESC) INCLUDE (status, dlq)
    WHERE fingerprint IS NOT NULL;
-- The jobs of a failure type, newest first.
CREATE INDEX job_failure_type ON "PlatformJob" ("failureType", "queuedAt" DESC, id DESC) WHERE "failureType" IS NOT NULL;
-- What went wrong for one tenant, newest first: few rows of a tenant that may have a million done ones.
CREATE INDEX job_list_unhappy ON "PlatformJob" ("tenantId", status, dlq, "queuedAt" DESC, id DESC)
    WHERE status IN ('FAILED', 'RETRY_WAIT', 'CANCELLED');
-- Failures that wait for the sweep's judgement, newest first: hardly ever any, beside any number of dead letters.
CREATE INDEX job_list_failed ON "PlatformJob" ("queuedAt" DESC, id DESC) WHERE status = 'FAILED' AND NOT dlq;
-- Rare text in an error, of any age. Only the beginning is kept: it is what names the cause, and a long one would cost
-- the writer thousands of entries.
CREATE INDEX job_error_text ON "PlatformJob" USING gin (left(error, 500) gin_trgm_ops) WHERE error IS NOT NULL;
