-- As an older release of the Node program made them: enums without the newer words, columns that came later missing,
-- foreign keys, and the program's own words (ODD, ON_HOLD, ARCHIVED).
CREATE TYPE "JobStatus" AS ENUM ('QUEUED', 'RUNNING', 'DONE', 'FAILED', 'CANCELLED', 'ODD', 'ON_HOLD', 'ARCHIVED');
CREATE TYPE "FailureKind" AS ENUM ('TRANSIENT', 'FATAL');

CREATE TABLE "PlatformJob" (
    "updatedAt" TIMESTAMP(3) NOT NULL,
    "id" TEXT NOT NULL,
    "tenantId" TEXT NOT NULL,
    "projectId" TEXT,
    "type" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "status" "JobStatus" NOT NULL DEFAULT 'QUEUED',
    "config" JSONB NOT NULL,
    "result" JSONB,
    "error" TEXT,
    "progress" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "queuedAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "startedAt" TIMESTAMP(3),
    "finishedAt" TIMESTAMP(3),
    "heartbeatAt" TIMESTAMP(3),
    "workerId" VARCHAR,
    "retryCount" INTEGER NOT NULL DEFAULT 0,
    "nextRetryAt" TIMESTAMP(3),
    "failureType" "FailureKind",
    "dlq" BOOLEAN NOT NULL DEFAULT false,
    "dlqReason" TEXT,
    CONSTRAINT "PlatformJob_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "PlatformJob_status_idx" ON "PlatformJob" ("status");
CREATE INDEX "PlatformJob_queuedAt_idx" ON "PlatformJob" ("queuedAt");

CREATE TABLE "CrawlPage" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "jobId" TEXT NOT NULL REFERENCES "PlatformJob" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE "SystemConfig" (
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    CONSTRAINT "SystemConfig_pkey" PRIMARY KEY ("key")
);
