-- The jobs of a state, a tenant, a type, newest first, for the lists alone. These say that an id is a text: true of every
-- job, but the planner does not know it. So nobody else can be led to them: a claim would read all that is queued, or all
-- of its tenant, from one of these whenever the statistics are of a time when there was little of it.
CREATE INDEX job_list_of_state ON "PlatformJob" (status, "queuedAt" DESC, id DESC) WHERE id >= '';
CREATE INDEX job_list_of_tenant ON "PlatformJob" ("tenantId", "queuedAt" DESC, id DESC) WHERE id >= '';
CREATE INDEX job_list_of_type ON "PlatformJob" (type, "queuedAt" DESC, id DESC) WHERE id >= '';
-- Dead letters, newest first, with all that groups them: the groups of 20,000 are read without touching a job.
CREATE INDEX job_list_dead ON "PlatformJob" ("dlqAt" DESC, id DESC) INCLUDE (type, fingerprint, "tenantId") WHERE dlq;
-- Jobs with an error, newest first: frequent text is found among the first of them.
CREATE INDEX job_list_error ON "PlatformJob" ("queuedAt" DESC, id DESC) WHERE error IS NOT NULL;
