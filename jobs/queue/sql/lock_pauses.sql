-- One at a time says what pauses everything: whoever lifts a pause has to see the one that somebody sets at that moment, or
-- the flag that other programs read would say something else than the pauses.
SELECT pg_advisory_xact_lock(hashtextextended('detiq.pauses', 0))
