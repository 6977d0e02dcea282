-- The claim: one stream a type and priority, tenants in it in order, each tenant's jobs by how long they wait.
CREATE INDEX job_claim ON "PlatformJob"
    (type, (-priority), "tenantId", (coalesce("requeuedAt", "queuedAt")), id)
    WHERE status = 'QUEUED' AND "nextRetryAt" IS NULL;
-- The same by project, read only for tenants that have a paused project.
CREATE INDEX job_claim_project ON "PlatformJob"
    (type, (-priority), "tenantId", (coalesce("projectId", '')), (coalesce("requeuedAt", "queuedAt")), id)
    WHERE status = 'QUEUED' AND "nextRetryAt" IS NULL;
-- What counts against a cap.
CREATE INDEX job_live_tenant ON "PlatformJob" ("tenantId", inline)
    WHERE status IN ('RUNNING', 'CANCEL_REQUESTED');
-- What the sweep looks for.
CREATE INDEX job_retry_due ON "PlatformJob" ("nextRetryAt") WHERE status = 'RETRY_WAIT';
CREATE INDEX job_queued_later ON "PlatformJob" ("nextRetryAt") WHERE status = 'QUEUED' AND "nextRetryAt" IS NOT NULL;
CREATE INDEX job_failed_open ON "PlatformJob" (id) WHERE status = 'FAILED' AND NOT dlq;
CREATE INDEX job_ended ON "PlatformJob" ("finishedAt", id)
    WHERE status IN ('DONE', 'FAILED', 'CANCELLED') AND NOT dlq AND NOT inline;
-- One active job for a unique key.
CREATE UNIQUE INDEX job_unique_key ON "PlatformJob" ("uniqueKey")
    WHERE "uniqueKey" IS NOT NULL AND status IN ('QUEUED', 'RUNNING', 'RETRY_WAIT', 'CANCEL_REQUESTED');
-- The copies of a job.
CREATE INDEX job_origin ON "PlatformJob" ("originId") WHERE "originId" IS NOT NULL;

CREATE INDEX job_history_job ON job_history (job_id, id);
CREATE INDEX job_history_at ON job_history USING brin (at);
CREATE INDEX job_log_job ON job_log (job_id, id);
CREATE INDEX queue_pause_active ON queue_pause (id) WHERE lifted_at IS NULL;
CREATE INDEX worker_heartbeat ON worker (heartbeat_at);
CREATE INDEX operation_open ON operation (id) WHERE state IN ('PENDING', 'RUNNING', 'PAUSED', 'BRAKED');
CREATE INDEX job_trash_purged ON job_trash (purged_at);
CREATE INDEX audit_entry_at ON audit_entry (at DESC, id DESC);
CREATE INDEX ledger_pending ON document_lifecycle_events (created_at, id) WHERE status = 'pending';
CREATE INDEX ledger_running ON document_lifecycle_events (updated_at) WHERE status = 'running';
CREATE INDEX ledger_failed ON document_lifecycle_events (company_id, updated_at DESC) WHERE status = 'failed';
CREATE INDEX ledger_document ON document_lifecycle_events (document_id, created_at);
