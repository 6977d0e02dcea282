-- The run went well, and it covers the twins that were there when it began. Nothing changes for a claim that is lost.
WITH mine AS (
    UPDATE document_lifecycle_events
       SET status = 'succeeded',
           last_error = NULL,
           updated_at = clock_timestamp(),
           completed_at = clock_timestamp(),
           claim_token = NULL
     WHERE id = %(id)s AND status = 'running' AND attempts = %(attempts)s AND claim_token = %(token)s
    RETURNING id
),
covered AS (
    UPDATE document_lifecycle_events t
       SET status = 'succeeded',
           last_error = NULL,
           updated_at = clock_timestamp(),
           completed_at = clock_timestamp(),
           next_attempt_at = NULL,
           ran_with = mine.id
      FROM mine
     WHERE t.id = ANY (%(twins)s::text[]) AND t.status = 'pending'
    RETURNING 1
)
SELECT count(*) AS changed FROM mine
