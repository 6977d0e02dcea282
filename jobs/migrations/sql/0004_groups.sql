-- Failures by cause. A trigger appends what failed to failure_delta, the sweep folds it: no writer waits for a row that
-- another writes. `n` are runs that failed, `dead` those that went to the dead-letter queue.
CREATE TABLE failure_delta (
    at           timestamptz NOT NULL,
    fingerprint  text NOT NULL,
    type         text NOT NULL,
    failure_type text NOT NULL,
    tenant_id    text NOT NULL,
    n            integer NOT NULL,
    dead         integer NOT NULL,
    -- The latest start among the runs, and one of the jobs with what it said.
    started_at   timestamptz,
    job_id       text NOT NULL,
    sample       text NOT NULL DEFAULT ''
);

-- A group: one cause, from its first failure on. What people say of it stands beside what is counted.
CREATE TABLE failure_group (
    fingerprint  text PRIMARY KEY,
    type         text NOT NULL,
    failure_type text NOT NULL,
    sample       text NOT NULL DEFAULT '',
    job_id       text NOT NULL,
    first_at     timestamptz NOT NULL,
    last_at      timestamptz NOT NULL,
    n            bigint NOT NULL,
    dead         bigint NOT NULL,
    state        text NOT NULL DEFAULT 'NEW' CHECK (state IN ('NEW', 'KNOWN', 'FIX_DEPLOYED', 'IGNORED', 'REGRESSED')),
    owner        text NOT NULL DEFAULT '' CHECK (length(owner) <= 300),
    note         text NOT NULL DEFAULT '' CHECK (length(note) <= 2000),
    changed_at   timestamptz,
    changed_by   text NOT NULL DEFAULT ''
) WITH (fillfactor = 80);
CREATE INDEX failure_group_last ON failure_group (last_at);
CREATE INDEX failure_group_open ON failure_group (state) WHERE state IN ('NEW', 'REGRESSED');

-- What became of a group, by whom and why; the sweep writes it when a fixed group fails again.
CREATE TABLE failure_group_change (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fingerprint text NOT NULL REFERENCES failure_group (fingerprint) ON DELETE CASCADE,
    at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    from_state  text NOT NULL,
    to_state    text NOT NULL,
    actor       text NOT NULL CHECK (actor <> ''),
    reason      text NOT NULL DEFAULT ''
);
CREATE INDEX failure_group_change_of ON failure_group_change (fingerprint, id DESC);

-- Whom a group hits. Since every span that pages show ends now, the tenants it hit in a span are those with last_at in it.
CREATE TABLE failure_group_tenant (
    fingerprint text NOT NULL,
    tenant_id   text NOT NULL,
    n           bigint NOT NULL,
    first_at    timestamptz NOT NULL,
    last_at     timestamptz NOT NULL,
    PRIMARY KEY (fingerprint, tenant_id)
) WITH (fillfactor = 80);
CREATE INDEX failure_group_tenant_last ON failure_group_tenant (fingerprint, last_at);
CREATE INDEX failure_group_tenant_of ON failure_group_tenant (tenant_id, last_at);

-- Counts over time. `grain`: m minutes, h hours, d days (UTC); each failure is in all three, and a page reads the one
-- that its span needs. By cause without tenants, by tenant without causes: neither grows with the product of both.
CREATE TABLE failure_cause (
    grain        text NOT NULL CHECK (grain IN ('m', 'h', 'd')),
    at           timestamptz NOT NULL,
    type         text NOT NULL,
    failure_type text NOT NULL,
    fingerprint  text NOT NULL,
    n            bigint NOT NULL,
    dead         bigint NOT NULL,
    PRIMARY KEY (grain, at, fingerprint, type, failure_type)
);
CREATE INDEX failure_cause_of ON failure_cause (fingerprint, grain, at);
CREATE TABLE failure_tenant (
    grain        text NOT NULL CHECK (grain IN ('m', 'h', 'd')),
    at           timestamptz NOT NULL,
    tenant_id    text NOT NULL,
    type         text NOT NULL,
    failure_type text NOT NULL,
    n            bigint NOT NULL,
    dead         bigint NOT NULL,
    PRIMARY KEY (grain, at, tenant_id, type, failure_type)
);
CREATE INDEX failure_tenant_of ON failure_tenant (tenant_id, grain, at);

-- What tally_minute says, without tenants (the overview's charts) and without the rest (who takes the capacity): small
-- enough to be read every second.
CREATE TABLE tally_flow (
    minute     timestamptz NOT NULL,
    type       text NOT NULL,
    from_state text NOT NULL,
    to_state   text NOT NULL,
    bucket     smallint NOT NULL,
    n          bigint NOT NULL,
    PRIMARY KEY (minute, type, from_state, to_state, bucket)
);
CREATE TABLE tally_tenant (
    minute    timestamptz NOT NULL,
    tenant_id text NOT NULL,
    started   bigint NOT NULL,
    seconds   double precision NOT NULL,
    PRIMARY KEY (minute, tenant_id)
);
CREATE TABLE tally_type (
    type  text NOT NULL,
    state text NOT NULL,
    n     bigint NOT NULL,
    PRIMARY KEY (type, state)
);
-- Who waits: few among all that ever had a job.
CREATE INDEX tally_state_queued ON tally_state (tenant_id, type) INCLUDE (n) WHERE state = 'QUEUED' AND n <> 0;

-- tally_type follows tally_state by triggers, whoever folds. They wait for a fold under way and hold up the next one, so
-- that what is counted already is counted once.
CREATE TRIGGER detiq_types_insert AFTER INSERT ON tally_state
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION detiq_count_types();
CREATE TRIGGER detiq_types_update AFTER UPDATE ON tally_state
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION detiq_count_types();
CREATE TRIGGER detiq_types_delete AFTER DELETE ON tally_state
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION detiq_count_types();
INSERT INTO tally_type (type, state, n)
SELECT type, state, sum(n) FROM tally_state GROUP BY 1, 2 HAVING sum(n) <> 0;
INSERT INTO tally_flow (minute, type, from_state, to_state, bucket, n)
SELECT minute, type, from_state, to_state, bucket, sum(n)
  FROM tally_minute WHERE minute >= now() - interval '2 days'
 GROUP BY 1, 2, 3, 4, 5;

-- The failed runs behind every number: by time, and by time within a type, a tenant, a group.
CREATE INDEX job_history_failed_at ON job_history (at DESC, id DESC) WHERE to_status IN ('RETRY_WAIT', 'FAILED');
CREATE INDEX job_history_failed_type ON job_history (type, at DESC, id DESC) WHERE to_status IN ('RETRY_WAIT', 'FAILED');
CREATE INDEX job_history_failed_tenant ON job_history (tenant_id, at DESC, id DESC)
    WHERE to_status IN ('RETRY_WAIT', 'FAILED');
CREATE INDEX job_history_failed_group ON job_history
    (detiq_group(type, fingerprint, left(detail ->> 'error', 2000)), at DESC, id DESC)
    WHERE to_status IN ('RETRY_WAIT', 'FAILED');

-- What failed in the last month, to be folded by the next sweep.
INSERT INTO failure_delta (at, fingerprint, type, failure_type, tenant_id, n, dead, started_at, job_id, sample)
SELECT max(at), detiq_group(type, fingerprint, left(detail ->> 'error', 2000)), type, coalesce(left(failure_type, 100), ''),
       tenant_id, count(*) FILTER (WHERE from_status IN ('RUNNING', 'CANCEL_REQUESTED')),
       count(*) FILTER (WHERE to_status = 'FAILED' AND to_dlq),
       max(run_started_at), max(job_id), coalesce(max(left(detail ->> 'error', 1000)), '')
  FROM job_history
 WHERE to_status IN ('RETRY_WAIT', 'FAILED') AND at >= now() - interval '30 days'
   AND (from_status IN ('RUNNING', 'CANCEL_REQUESTED') OR to_status = 'FAILED' AND to_dlq AND from_status IS NOT NULL)
 GROUP BY date_trunc('hour', at), 2, 3, 4, 5;
