-- These runs of one claim went well, and each covers the twins that were there when it was claimed. Nothing changes for
-- what is no longer this claim's.
WITH mine AS (
    UPDATE document_lifecycle_events
       SET status = 'succeeded',
           last_error = NULL,
           updated_at = clock_timestamp(),
           completed_at = clock_timestamp(),
           claim_token = NULL
     WHERE id = ANY (%(ids)s::text[])
       AND status = 'running' AND attempts = %(attempts)s AND claim_token = %(token)s
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
      FROM unnest(%(twins)s::text[], %(twins_of)s::text[]) AS w (twin, of), mine
     WHERE t.id = w.twin AND mine.id = w.of AND t.status = 'pending'
    RETURNING 1
)
SELECT count(*) AS changed FROM mine
