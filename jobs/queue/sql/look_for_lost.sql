-- A sweep looks for lost workers. When nobody has looked for longer than `gap_seconds`, there was an outage: nobody could
-- send a sign of life either, so every worker gets one stale timeout before anyone is given up. The same when the clock was
-- set back: what it said before, of signs of life and of a respite, is of no use any more.
INSERT INTO sweep_duty AS d (name, looked_at)
VALUES ('rescue', clock_timestamp())
ON CONFLICT (name) DO UPDATE
   SET grace_until = CASE WHEN abs(extract(epoch FROM clock_timestamp() - d.looked_at)) > %(gap_seconds)s
                          THEN clock_timestamp() + make_interval(secs => %(stale_seconds)s)
                          ELSE d.grace_until END,
       looked_at = clock_timestamp()
RETURNING coalesce(grace_until > clock_timestamp(), false) AS in_grace
