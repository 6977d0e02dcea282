-- One repair at a time: a second one finds what the first has committed.
SELECT pg_advisory_xact_lock(hashtextextended('detiq.ledger_repair', 0))
