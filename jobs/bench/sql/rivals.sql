-- The same backlog twice more: for plain SKIP LOCKED and for the source's claim, each with the indexes that suit it best.
CREATE TABLE raw_job (LIKE "PlatformJob" INCLUDING DEFAULTS);
CREATE TABLE source_job (LIKE "PlatformJob" INCLUDING DEFAULTS);
ALTER TABLE raw_job SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
                         autovacuum_vacuum_cost_delay = 0);
ALTER TABLE source_job SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
                            autovacuum_vacuum_cost_delay = 0);
ALTER TABLE raw_job ADD PRIMARY KEY (id);
ALTER TABLE source_job ADD PRIMARY KEY (id);
CREATE INDEX raw_claim ON raw_job (priority DESC, "queuedAt") WHERE status = 'QUEUED';
CREATE INDEX source_claim ON source_job (priority DESC, "queuedAt") WHERE status = 'QUEUED';
CREATE INDEX source_tenant ON source_job ("tenantId") WHERE status = 'RUNNING' AND NOT inline;
CREATE INDEX source_type ON source_job (type) WHERE status = 'RUNNING';
