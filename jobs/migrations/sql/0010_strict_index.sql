-- The queue in its strict order, where JOB_CLAIM_ORDER=strict asks for it.
CREATE INDEX job_claim_strict ON "PlatformJob" ((-priority), "queuedAt", id) WHERE status = 'QUEUED';
