-- What somebody has to be told. The recorder of failures appends it in the transaction of the change itself, whoever made
-- it; whoever tells takes the row away in the transaction that writes the notifications. So nothing is told twice or never.
CREATE TABLE notice_due (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id    text NOT NULL,
    job_id       text NOT NULL,
    type         text NOT NULL,
    failure_type text,
    error        text NOT NULL DEFAULT '',
    at           timestamptz NOT NULL,
    tries        integer NOT NULL DEFAULT 0
);

-- Who has been told of which pause.
CREATE TABLE notice_pause (
    pause     text NOT NULL,
    tenant_id text NOT NULL,
    told_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (pause, tenant_id)
);

-- What an admin changed of a rule of alerts; a rule without a row is as it is built in.
CREATE TABLE alert_rule (
    name       text PRIMARY KEY,
    enabled    boolean NOT NULL,
    critical   boolean NOT NULL,
    threshold  integer NOT NULL CHECK (threshold >= 0),
    minutes    integer NOT NULL CHECK (minutes >= 0),
    version    integer NOT NULL DEFAULT 1,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_by text NOT NULL CHECK (updated_by <> '')
);

-- One condition that held for a while. Without a tenant it is about all of them. Addresses are paths of the console.
CREATE TABLE alert (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    rule         text NOT NULL,
    subject      text NOT NULL DEFAULT '',
    tenant_id    text,
    critical     boolean NOT NULL DEFAULT false,
    title        text NOT NULL,
    detail       text NOT NULL DEFAULT '',
    evidence_url text NOT NULL DEFAULT '',
    action_url   text NOT NULL DEFAULT '',
    action_label text NOT NULL DEFAULT '',
    opened_at    timestamptz NOT NULL,
    seen_at      timestamptz NOT NULL,
    closed_at    timestamptz,
    acked_at     timestamptz,
    acked_by     text,
    ack_note     text,
    CHECK ((acked_at IS NULL) = (acked_by IS NULL))
) WITH (fillfactor = 80);
-- However many replicas look at once: one open alert a rule and subject.
CREATE UNIQUE INDEX alert_open ON alert (rule, subject) WHERE closed_at IS NULL;
CREATE INDEX alert_list ON alert (opened_at DESC, id DESC);
CREATE INDEX alert_closed ON alert (closed_at) WHERE closed_at IS NOT NULL;

-- Where alerts go. `target` and `secret` are encrypted; `shown` is what may be read of the target.
CREATE TABLE alert_channel (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL UNIQUE CHECK (btrim(name) <> ''),
    kind       text NOT NULL CHECK (kind IN ('email', 'webhook', 'apprise')),
    target     text NOT NULL,
    secret     text NOT NULL DEFAULT '',
    shown      text NOT NULL,
    enabled    boolean NOT NULL DEFAULT true,
    only_critical boolean NOT NULL DEFAULT false,
    quiet_from time,
    quiet_to   time,
    zone       text NOT NULL DEFAULT 'UTC',
    version    integer NOT NULL DEFAULT 1,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_by text NOT NULL CHECK (updated_by <> ''),
    CHECK ((quiet_from IS NULL) = (quiet_to IS NULL))
);

-- One message to one channel; `id` is what the receiver knows it by. Written with the alert itself, sent by workers.
CREATE TABLE alert_delivery (
    id         text PRIMARY KEY DEFAULT gen_random_uuid()::text,
    alert_id   bigint REFERENCES alert (id) ON DELETE CASCADE,
    channel_id bigint NOT NULL REFERENCES alert_channel (id) ON DELETE CASCADE,
    event      text NOT NULL CHECK (event IN ('opened', 'closed', 'test')),
    state      text NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'SENT', 'FAILED')),
    attempts   integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    due_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    sent_at    timestamptz,
    last_error text,
    CHECK ((alert_id IS NULL) = (event = 'test'))
);
-- Two sweeps at once, or one that comes back, write each message once.
CREATE UNIQUE INDEX alert_delivery_once ON alert_delivery (alert_id, channel_id, event) WHERE alert_id IS NOT NULL;
CREATE INDEX alert_delivery_due ON alert_delivery (due_at) WHERE state = 'PENDING';
CREATE INDEX alert_delivery_list ON alert_delivery (created_at DESC, id DESC);
CREATE INDEX alert_delivery_failed ON alert_delivery (created_at DESC, id DESC) WHERE state = 'FAILED';

-- How many jobs of a type were done, and how many came, in each whole hour (UTC): what is usual is judged by it.
CREATE TABLE type_hour (
    hour timestamptz NOT NULL,
    type text NOT NULL,
    done bigint NOT NULL,
    came bigint NOT NULL,
    PRIMARY KEY (hour, type)
);
CREATE INDEX type_hour_of ON type_hour (type, hour);

-- Until when something has been done, over all replicas.
CREATE TABLE alert_mark (
    name text PRIMARY KEY,
    at   timestamptz NOT NULL
);

INSERT INTO type_hour (hour, type, done, came)
SELECT date_trunc('hour', minute, 'UTC'), type, coalesce(sum(n) FILTER (WHERE to_state = 'DONE'), 0),
       coalesce(sum(n) FILTER (WHERE from_state = ''), 0)
  FROM tally_minute
 WHERE minute >= now() - interval '35 days' AND minute < date_trunc('hour', now(), 'UTC')
   AND (to_state = 'DONE' OR from_state = '')
 GROUP BY 1, 2;
INSERT INTO alert_mark (name, at) SELECT 'hours', date_trunc('hour', now(), 'UTC') WHERE EXISTS (SELECT FROM tally_minute);
INSERT INTO alert_mark (name, at)
SELECT 'known', greatest(min(minute), now() - interval '35 days') FROM tally_minute HAVING min(minute) IS NOT NULL;
