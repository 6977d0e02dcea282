-- The oldest events that may run, taken by one drainer. Rows that another one has locked are passed over.
--
-- An event waits while an older one that is the same in everything (document, hook, payload) is open: of two that say the
-- same, one run is enough. Which later ones a run covers is read in the claim's own snapshot: a document that was saved
-- after it may say something new.
--
-- What was tried before is claimed alone: if it is what kills its process, it has no neighbour in the batch whose attempt
-- is then lost with it, more than once.
--
-- The subselect is a scalar one, so that no plan joins it with the whole table; and the document is compared as an
-- expression, so that no plan reads all events of a document that has many instead of those with the same digest.
WITH due AS MATERIALIZED (
    SELECT e.id, e.attempts, e.created_at
      FROM document_lifecycle_events e
     WHERE e.status = 'pending'
       AND e.attempts < %(max_attempts)s
       AND (%(document_id)s::text IS NULL OR e.document_id = %(document_id)s)
       -- A time beyond every delay of ours was written by a clock that is wrong.
       AND (e.next_attempt_at IS NULL OR e.next_attempt_at <= clock_timestamp()
            OR e.next_attempt_at > clock_timestamp() + interval '1 day')
       AND (SELECT o.id
              FROM document_lifecycle_events o
             WHERE o.status IN ('pending', 'running')
               AND md5(o.document_id || '/' || o.hook_type || '/' || o.payload_json)
                   = md5(e.document_id || '/' || e.hook_type || '/' || e.payload_json)
               AND o.document_id || '' = e.document_id
               AND o.company_id = e.company_id
               AND (o.created_at, o.id) < (e.created_at, e.id)
               AND (o.status = 'running' OR o.attempts < %(max_attempts)s)
             LIMIT 1) IS NULL
     ORDER BY e.created_at, e.id
     LIMIT %(limit)s
       FOR NO KEY UPDATE SKIP LOCKED
),
first AS (
    SELECT id, attempts FROM due ORDER BY created_at, id LIMIT 1
),
chosen AS (
    SELECT d.id FROM due d, first f WHERE CASE WHEN f.attempts <> 0 THEN d.id = f.id ELSE d.attempts = 0 END
),
claimed AS (
    UPDATE document_lifecycle_events e
       SET status = 'running',
           attempts = e.attempts + 1,
           updated_at = clock_timestamp(),
           next_attempt_at = NULL,
           claim_token = %(token)s
      FROM chosen
     WHERE e.id = chosen.id
    RETURNING e.*
)
SELECT c.id, c.company_id, c.document_id, c.hook_type, c.attempts, c.payload_json, c.claim_token,
       ARRAY(SELECT t.id
               FROM document_lifecycle_events t
              WHERE t.status IN ('pending', 'running') AND t.status || '' = 'pending'  -- as ledger_open has it, and no other index
                AND md5(t.document_id || '/' || t.hook_type || '/' || t.payload_json)
                    = md5(c.document_id || '/' || c.hook_type || '/' || c.payload_json)
                AND t.document_id || '' = c.document_id
                AND t.company_id = c.company_id
                AND (t.created_at, t.id) > (c.created_at, c.id)
              LIMIT 1000)::text[] AS twins
  FROM claimed c
 ORDER BY c.created_at, c.id
