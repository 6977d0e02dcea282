-- Who has these jobs now; a job that is gone has no row.
SELECT id, status::text AS status, "workerId" AS worker FROM "PlatformJob" WHERE id = ANY (%(ids)s)
