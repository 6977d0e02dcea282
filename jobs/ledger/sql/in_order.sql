-- For this transaction: the claim reads its index in order and stops, also on a table whose statistics say nothing yet.
-- Any other plan reads all that waits before it takes the first.
SELECT set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true),
       set_config('enable_seqscan', 'off', true)
