-- Runs of remote types whose time was over long ago, with their nonces.
WITH old AS (
    SELECT id FROM remote_run
     WHERE deadline_at < clock_timestamp() - make_interval(secs => %(keep_seconds)s)
     ORDER BY deadline_at
     LIMIT %(limit)s
       FOR UPDATE SKIP LOCKED
), nonces AS (
    DELETE FROM remote_nonce WHERE run_id IN (SELECT id FROM old)
), gone AS (
    DELETE FROM remote_run WHERE id IN (SELECT id FROM old) RETURNING id
)
SELECT count(*) AS pruned, count(*) >= %(limit)s AS more FROM gone
