-- Failed and exhausted events go for good. Answers what each was found as, so that the audit trail keeps it.
WITH found AS MATERIALIZED (
    SELECT id, company_id, document_id, hook_type, status, attempts, last_error, left(payload_json, 2000) AS payload_json
      FROM document_lifecycle_events
     WHERE id = ANY (%(ids)s::text[])
     ORDER BY id
       FOR UPDATE
),
gone AS (
    DELETE FROM document_lifecycle_events e
     USING found f
     WHERE e.id = f.id
       AND (f.status = 'failed' OR f.status = 'pending' AND f.attempts >= %(max_attempts)s)
    RETURNING e.id
),
links AS (
    DELETE FROM ledger_job WHERE event_id IN (SELECT id FROM gone)
)
SELECT f.*, g.id IS NOT NULL AS changed
  FROM found f LEFT JOIN gone g USING (id)
 ORDER BY f.id
