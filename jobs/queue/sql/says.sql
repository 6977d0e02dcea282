-- Who does what follows in this transaction, why, and what time it is.
SELECT clock_timestamp() AS now, detiq_says(%(actor)s, %(reason)s) AS said
