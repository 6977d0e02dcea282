-- A step by a person or by the brake, guarded by the state it expects; `found` is the state it was in.
WITH before AS MATERIALIZED (SELECT id, state, kind FROM operation WHERE id = %(id)s FOR UPDATE),
moved AS (
    UPDATE operation o
       SET state = %(to)s, note = %(note)s, runner = NULL, heartbeat_at = clock_timestamp(), paced_at = NULL,
           finished_at = CASE WHEN %(to)s = 'STOPPED' THEN clock_timestamp() END,
           options = o.options || %(options)s::jsonb
                     -- The brake judges what was released from here on.
                     || CASE WHEN %(to)s = 'PENDING' THEN jsonb_build_object('brake_since', clock_timestamp())
                             ELSE '{}' END
      FROM before b
     WHERE o.id = b.id AND b.state = ANY (%(from)s)
    RETURNING o.id, o.done, o.skipped, o.failed, o.total
), told AS MATERIALIZED (SELECT pg_notify('detiq_changed', ''))
SELECT b.state AS found, b.kind, m.id IS NOT NULL AS changed, m.done, m.skipped, m.failed, m.total
  FROM before b CROSS JOIN told LEFT JOIN moved m ON m.id = b.id
