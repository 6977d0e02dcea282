-- Dead letters, newest first, with all that groups them: the groups of 20,000 are read without touching a job.
CREATE INDEX job_list_dead ON "PlatformJob" ("dlqAt" DESC, id DESC) INCLUDE (type, fingerprint, "tenantId") WHERE dlq;
-- Jobs with an error, newest first: frequent text is found among the first of them.
CREATE INDEX job_list_error ON "PlatformJob" ("queuedAt" DESC, id DESC) WHERE error IS NOT NULL;
