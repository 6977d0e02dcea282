-- How long the longest-waiting job of each type waits, in seconds.
SELECT type, coalesce(detiq_seconds(since, clock_timestamp()), 0) AS seconds FROM detiq_waits()
