-- The jobs that an event made.
CREATE TABLE ledger_job (
    event_id    text NOT NULL,
    job_id      text NOT NULL,
    document_id text NOT NULL,
    made_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (event_id, job_id)
);
CREATE INDEX ledger_job_job ON ledger_job (job_id);
