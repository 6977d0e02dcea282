-- The worker's own sign of life, and which change of the pauses it has seen. No row: it must register again.
UPDATE worker
   SET heartbeat_at = clock_timestamp(), stopping = %(stopping)s, slots = %(slots)s, types = %(types)s::text[],
       versions = %(versions)s::jsonb,
       pause_seen = (SELECT max(id) FROM queue_pause)
 WHERE id = %(id)s
RETURNING id
