-- Takes a nonce, once. No row: it was taken before. What is too old to be accepted by its time is forgotten meanwhile.
WITH old AS (
    DELETE FROM remote_nonce WHERE run_id = %(run)s AND at < clock_timestamp() - make_interval(secs => %(keep)s)
)
INSERT INTO remote_nonce (run_id, nonce) VALUES (%(run)s, %(nonce)s)
ON CONFLICT DO NOTHING
RETURNING nonce
