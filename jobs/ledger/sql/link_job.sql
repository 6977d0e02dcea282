-- The job that an event made, in the same transaction as the job.
INSERT INTO ledger_job (event_id, document_id, job_id)
VALUES (%(event_id)s, %(document_id)s, %(job_id)s)
ON CONFLICT DO NOTHING
