-- The priorities of these jobs, held until the caller's transaction ends.
SELECT id, priority FROM "PlatformJob" WHERE id = ANY (%(ids)s) ORDER BY id FOR UPDATE
