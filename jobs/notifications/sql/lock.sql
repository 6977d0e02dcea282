-- One evaluates, over all replicas, until its transaction ends; whoever finds it taken leaves it.
SELECT pg_try_advisory_xact_lock(hashtextextended('detiq.alerts', 0)) AS mine
