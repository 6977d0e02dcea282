-- The end that was recorded, so that the same one may be told again; and the worker that waits for it looks at once.
WITH ended AS (
    UPDATE remote_run SET ended_at = clock_timestamp(), heard_at = clock_timestamp(), end_digest = %(digest)s
     WHERE id = %(id)s
), taken AS (
    DELETE FROM remote_nonce WHERE run_id = %(id)s
)
SELECT pg_notify('detiq_cancel', %(id)s)
