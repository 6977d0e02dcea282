-- Those whose analysis has ended in the dead-letter queue and that still say that they wait for it.
UPDATE "ProjectArtifact" SET status = 'ERROR', summary = 'AI analysis failed'
 WHERE id = ANY (%(ids)s) AND "tenantId" = %(tenant)s AND status::text = 'PENDING'
