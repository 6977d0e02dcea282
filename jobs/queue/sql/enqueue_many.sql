-- Many new jobs, QUEUED. What is not named takes the database's default.
COPY "PlatformJob" (id, "tenantId", "projectId", type, name, priority, config, "submittedBy", "uniqueKey", "nextRetryAt")
FROM STDIN
