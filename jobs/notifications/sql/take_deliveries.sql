-- Takes messages that are due, each for a while: whoever is killed with one leaves it to the next. Two never take the same.
WITH due AS MATERIALIZED (
    SELECT d.id FROM alert_delivery d
     WHERE d.state = 'PENDING' AND d.due_at <= coalesce(%(now)s::timestamptz, clock_timestamp())
     ORDER BY d.due_at, d.id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
UPDATE alert_delivery d
   SET attempts = d.attempts + 1,
       due_at = coalesce(%(now)s::timestamptz, clock_timestamp()) + make_interval(secs => %(lease_seconds)s)
  FROM due, alert_channel c
 WHERE d.id = due.id AND c.id = d.channel_id
RETURNING d.id, d.alert_id, d.event, d.attempts, c.kind, c.name, c.target, c.secret, c.enabled,
          extract(epoch FROM clock_timestamp())::bigint AS taken_at
