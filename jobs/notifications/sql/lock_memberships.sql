-- One at a time: nothing keeps two rows of one user and tenant apart.
SELECT pg_advisory_xact_lock(hashtextextended('detiq.memberships', 0))
