-- The same for the sweep, which waits for nobody: what has ended is put down a moment later.
SELECT pg_try_advisory_xact_lock(hashtextextended('detiq.pauses', 0)) AS mine
