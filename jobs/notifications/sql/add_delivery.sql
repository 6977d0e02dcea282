INSERT INTO alert_delivery (alert_id, channel_id, event, created_at, due_at)
VALUES (%(alert_id)s, %(channel_id)s, %(event)s, coalesce(%(now)s::timestamptz, clock_timestamp()),
        coalesce(%(due_at)s::timestamptz, %(now)s::timestamptz, clock_timestamp()))
ON CONFLICT (alert_id, channel_id, event) WHERE alert_id IS NOT NULL DO NOTHING
RETURNING id
