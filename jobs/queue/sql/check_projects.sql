-- The projects of these jobs, of those in the trash too.
SELECT id, "projectId" AS project_id FROM "PlatformJob" WHERE id = ANY (%(ids)s)
UNION ALL
SELECT job_id, row ->> 'projectId' FROM job_trash WHERE job_id = ANY (%(ids)s)
