-- A sweep looks for lost workers. When nobody has looked for longer than `gap_seconds`, there was an outage: nobody could
-- send a sign of life either, so every worker gets one stale timeout before anyone is given up.
INSERT INTO sweep_duty AS d (name, looked_at)
VALUES ('rescue', clock_timestamp())
ON CONFLICT (name) DO UPDATE
   SET grace_until = CASE WHEN clock_timestamp() - d.looked_at > make_interval(secs => %(gap_seconds)s)
                          THEN clock_timestamp() + make_interval(secs => %(stale_seconds)s)
                          ELSE d.grace_until END,
       looked_at = clock_timestamp()
RETURNING coalesce(grace_until > clock_timestamp(), false) AS in_grace
