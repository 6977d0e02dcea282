-- A tenant's artifacts, newest id first, and those of which the analysis failed.
CREATE INDEX artifact_tenant ON "ProjectArtifact" ("tenantId", id DESC);
CREATE INDEX artifact_failed ON "ProjectArtifact" (id DESC) WHERE status = 'ERROR';
