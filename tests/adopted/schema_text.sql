-- As the Node program made them: text status, times without zone, columns of the current release.
CREATE TABLE "Tenant" ("id" TEXT NOT NULL PRIMARY KEY, "name" TEXT NOT NULL);

CREATE TABLE "PlatformJob" (
    "id" TEXT NOT NULL,
    "tenantId" TEXT NOT NULL,
    "projectId" TEXT,
    "type" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'QUEUED',
    "priority" INTEGER NOT NULL DEFAULT 0,
    "config" JSONB NOT NULL,
    "result" JSONB,
    "error" TEXT,
    "progress" INTEGER NOT NULL DEFAULT 0,
    "currentStep" TEXT,
    "queuedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "requeuedAt" TIMESTAMP(3),
    "startedAt" TIMESTAMP(3),
    "finishedAt" TIMESTAMP(3),
    "heartbeatAt" TIMESTAMP(3),
    "workerId" TEXT,
    "retryCount" INTEGER NOT NULL DEFAULT 0,
    "nextRetryAt" TIMESTAMP(3),
    "failureType" TEXT,
    "dlq" BOOLEAN NOT NULL DEFAULT false,
    "dlqAt" TIMESTAMP(3),
    "dlqReason" TEXT,
    "inline" BOOLEAN NOT NULL DEFAULT false,
    "submittedBy" TEXT,
    "checkpoint" JSONB,
    "checkpointAt" TIMESTAMP(3),
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updatedAt" TIMESTAMP(3) NOT NULL,
    CONSTRAINT "PlatformJob_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "PlatformJob_status_priority_queuedAt_idx" ON "PlatformJob" ("status", "priority" DESC, "queuedAt" ASC);
CREATE INDEX "PlatformJob_tenantId_projectId_idx" ON "PlatformJob" ("tenantId", "projectId");

CREATE TABLE "SystemConfig" (
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "updatedAt" TIMESTAMP(3) NOT NULL,
    CONSTRAINT "SystemConfig_pkey" PRIMARY KEY ("key")
);

CREATE TABLE "ProjectArtifact" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "tenantId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "storageKey" TEXT,
    "docType" TEXT,
    "status" TEXT NOT NULL DEFAULT 'PENDING',
    "summary" TEXT,
    "keywords" TEXT[],
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE "Membership" (
    "tenantId" TEXT NOT NULL REFERENCES "Tenant" ("id") ON DELETE CASCADE,
    "userId" TEXT NOT NULL,
    "role" TEXT NOT NULL DEFAULT 'MEMBER',
    PRIMARY KEY ("tenantId", "userId")
);

CREATE TABLE "Notification" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "tenantId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "body" TEXT,
    "read" BOOLEAN NOT NULL DEFAULT false,
    "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
