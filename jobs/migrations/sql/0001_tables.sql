-- The contract's tables. They may exist already, made by another program: what is there is kept as it is, and what it
-- lacks is added by jobs/queue/adoption.
CREATE TABLE IF NOT EXISTS "PlatformJob" (
    id            text PRIMARY KEY,
    "tenantId"    text NOT NULL,
    "projectId"   text,
    type          text NOT NULL,
    name          text NOT NULL DEFAULT '',
    status        text NOT NULL DEFAULT 'QUEUED',
    priority      integer NOT NULL DEFAULT 0,
    config        jsonb NOT NULL DEFAULT '{}',
    result        jsonb,
    error         text,
    progress      integer NOT NULL DEFAULT 0,
    "currentStep" text,
    "queuedAt"    timestamptz NOT NULL DEFAULT clock_timestamp(),
    "requeuedAt"  timestamptz,
    "startedAt"   timestamptz,
    "finishedAt"  timestamptz,
    "heartbeatAt" timestamptz,
    "workerId"    text,
    "retryCount"  integer NOT NULL DEFAULT 0,
    "nextRetryAt" timestamptz,
    "failureType" text,
    dlq           boolean NOT NULL DEFAULT false,
    "dlqAt"       timestamptz,
    "dlqReason"   text,
    inline        boolean NOT NULL DEFAULT false,
    "submittedBy" text,
    checkpoint    jsonb,
    "checkpointAt" timestamptz,
    -- Columns of our own: nullable, or with a database default, so that other programs need not know them.
    "uniqueKey"    text,
    fingerprint    text,
    "originId"     text,
    "redriveCount" integer NOT NULL DEFAULT 0,
    "lostCount"    integer NOT NULL DEFAULT 0
) WITH (
    -- Heartbeats and progress rewrite a row in place when its page has room; the vacuum keeps up with a busy queue.
    fillfactor = 85,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_insert_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.02,
    autovacuum_vacuum_cost_delay = 0
);

CREATE TABLE IF NOT EXISTS "SystemConfig" (
    key         text PRIMARY KEY,
    value       text NOT NULL,
    "updatedAt" timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE IF NOT EXISTS document_lifecycle_events (
    id           text PRIMARY KEY DEFAULT gen_random_uuid()::text,
    company_id   text NOT NULL,
    document_id  text NOT NULL,
    hook_type    text NOT NULL,
    status       text NOT NULL DEFAULT 'pending',
    attempts     integer NOT NULL DEFAULT 0,
    last_error   text,
    payload_json text NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    completed_at timestamptz
);

CREATE TABLE IF NOT EXISTS "ProjectArtifact" (
    id           text PRIMARY KEY,
    "tenantId"   text NOT NULL,
    "projectId"  text,
    name         text NOT NULL DEFAULT '',
    "storageKey" text,
    "docType"    text,
    status       text NOT NULL DEFAULT 'PENDING',
    summary      text,
    keywords     jsonb NOT NULL DEFAULT '[]'
);

CREATE TABLE IF NOT EXISTS "Membership" (
    id         text PRIMARY KEY DEFAULT gen_random_uuid()::text,
    "tenantId" text NOT NULL,
    "userId"   text NOT NULL,
    role       text NOT NULL
);

CREATE TABLE IF NOT EXISTS "Notification" (
    id          text PRIMARY KEY DEFAULT 'notif_' || gen_random_uuid()::text,
    "tenantId"  text NOT NULL,
    "userId"    text NOT NULL,
    type        text NOT NULL,
    title       text NOT NULL,
    body        text NOT NULL DEFAULT '',
    metadata    jsonb,
    -- Ours.
    read        boolean NOT NULL DEFAULT false,
    "createdAt" timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Tables of our own.
CREATE TABLE job_history (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id         text NOT NULL,
    tenant_id      text NOT NULL,
    type           text NOT NULL,
    from_status    text,
    from_dlq       boolean,
    to_status      text,
    to_dlq         boolean,
    at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor          text NOT NULL,
    reason         text,
    worker_id      text,
    run_started_at timestamptz,
    inline         boolean NOT NULL DEFAULT false,
    retry_count    integer,
    failure_type   text,
    fingerprint    text,
    detail         jsonb
);

CREATE TABLE job_log (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id         text NOT NULL,
    run_started_at timestamptz,
    at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    level          text NOT NULL,
    message        text NOT NULL
);

CREATE TABLE queue_pause (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    type        text CHECK (type <> ''),
    tenant_id   text CHECK (tenant_id <> ''),
    project_id  text CHECK (project_id <> ''),
    reason      text NOT NULL CHECK (btrim(reason) <> ''),
    owner       text NOT NULL CHECK (owner <> ''),
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    ends_at     timestamptz CHECK (ends_at > created_at),
    lifted_at   timestamptz,
    lifted_by   text,
    lift_reason text,
    CHECK ((lifted_at IS NULL) = (lifted_by IS NULL))
);

CREATE TABLE tenant_setting (
    tenant_id          text PRIMARY KEY,
    cap                integer CHECK (cap BETWEEN 0 AND 100000),
    unlimited          boolean NOT NULL DEFAULT false,
    weight             integer NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 1000),
    note               text NOT NULL DEFAULT '',
    ends_at            timestamptz,
    previous_cap       integer CHECK (previous_cap BETWEEN 0 AND 100000),
    previous_unlimited boolean NOT NULL DEFAULT false,
    version            integer NOT NULL DEFAULT 1,
    updated_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_by         text NOT NULL,
    CHECK (NOT (unlimited AND cap IS NOT NULL))
);

CREATE TABLE type_setting (
    type               text PRIMARY KEY,
    cap                integer CHECK (cap BETWEEN 0 AND 100000),
    unlimited          boolean NOT NULL DEFAULT false,
    max_run_seconds    integer CHECK (max_run_seconds > 0),
    ends_at            timestamptz,
    previous_cap       integer CHECK (previous_cap BETWEEN 0 AND 100000),
    previous_unlimited boolean NOT NULL DEFAULT false,
    version            integer NOT NULL DEFAULT 1,
    updated_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_by         text NOT NULL,
    CHECK (NOT (unlimited AND cap IS NOT NULL))
);

CREATE TABLE worker (
    id           text PRIMARY KEY,
    host         text NOT NULL,
    pid          integer NOT NULL,
    started_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    heartbeat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    slots        integer NOT NULL CHECK (slots > 0),
    types        text[] NOT NULL DEFAULT '{}',
    version      text NOT NULL DEFAULT '',
    stopping     boolean NOT NULL DEFAULT false,
    stopped_at   timestamptz,
    pause_seen   bigint
);

CREATE TABLE operation (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind            text NOT NULL,
    state           text NOT NULL DEFAULT 'PENDING'
                    CHECK (state IN ('PENDING', 'RUNNING', 'PAUSED', 'BRAKED', 'STOPPED', 'DONE', 'FAILED')),
    actor           text NOT NULL,
    reason          text NOT NULL CHECK (btrim(reason) <> ''),
    filter          jsonb NOT NULL DEFAULT '{}',
    options         jsonb NOT NULL DEFAULT '{}',
    idempotency_key text UNIQUE,
    total           integer NOT NULL DEFAULT 0,
    done            integer NOT NULL DEFAULT 0,
    skipped         integer NOT NULL DEFAULT 0,
    failed          integer NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at      timestamptz,
    finished_at     timestamptz,
    heartbeat_at    timestamptz
);

CREATE TABLE operation_item (
    operation_id bigint NOT NULL REFERENCES operation (id) ON DELETE CASCADE,
    position     integer NOT NULL,
    job_id       text NOT NULL,
    outcome      text CHECK (outcome IN ('done', 'skipped', 'failed')),
    reason       text,
    at           timestamptz,
    PRIMARY KEY (operation_id, position),
    UNIQUE (operation_id, job_id)
);

CREATE TABLE job_trash (
    job_id       text PRIMARY KEY,
    tenant_id    text NOT NULL,
    row          jsonb NOT NULL,
    operation_id bigint REFERENCES operation (id) ON DELETE SET NULL,
    purged_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    purged_by    text NOT NULL
);

CREATE TABLE audit_entry (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor        text NOT NULL CHECK (actor <> ''),
    action       text NOT NULL CHECK (action <> ''),
    target       text NOT NULL DEFAULT '',
    tenant_id    text,
    reason       text NOT NULL DEFAULT '',
    filter       jsonb,
    numbers      jsonb,
    before       jsonb,
    after        jsonb,
    address      text,
    user_agent   text,
    operation_id bigint
);

-- Counters: every change of state leaves a delta, folded by the sweep; nothing decides a cap by them.
CREATE TABLE tally_delta (
    minute       timestamptz NOT NULL,
    tenant_id    text NOT NULL,
    type         text NOT NULL,
    from_state   text,
    to_state     text,
    failure_type text,
    bucket       smallint NOT NULL DEFAULT 0,
    n            integer NOT NULL,
    seconds      double precision NOT NULL DEFAULT 0
);

CREATE TABLE tally_state (
    tenant_id text NOT NULL,
    type      text NOT NULL,
    state     text NOT NULL,
    n         bigint NOT NULL,
    PRIMARY KEY (tenant_id, type, state)
);

CREATE TABLE tally_minute (
    minute       timestamptz NOT NULL,
    tenant_id    text NOT NULL,
    type         text NOT NULL,
    from_state   text NOT NULL,
    to_state     text NOT NULL,
    failure_type text NOT NULL,
    bucket       smallint NOT NULL,
    n            bigint NOT NULL,
    seconds      double precision NOT NULL,
    PRIMARY KEY (minute, type, to_state, from_state, tenant_id, failure_type, bucket)
);

-- Since the beginning, by type: what a counter of /metrics shows. It only grows.
CREATE TABLE tally_total (
    type       text NOT NULL,
    from_state text NOT NULL,
    to_state   text NOT NULL,
    bucket     smallint NOT NULL,
    n          bigint NOT NULL,
    seconds    double precision NOT NULL,
    PRIMARY KEY (type, from_state, to_state, bucket)
);

CREATE TABLE sweep_duty (
    name        text PRIMARY KEY,
    looked_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    ok_at       timestamptz,
    grace_until timestamptz,
    changed     bigint NOT NULL DEFAULT 0,
    error       text
);
