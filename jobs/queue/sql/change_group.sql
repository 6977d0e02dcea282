-- A person's word on a group, if it is still as that person saw it.
WITH found AS MATERIALIZED (
    SELECT fingerprint, state, owner, note FROM failure_group WHERE fingerprint = %(fingerprint)s FOR UPDATE
),
changed AS (
    UPDATE failure_group g
       SET state = %(state)s, owner = %(owner)s, note = %(note)s, changed_by = %(actor)s,
           -- What is counted from is the moment of the fix; a new owner or note does not move it.
           changed_at = CASE WHEN g.state = %(state)s AND g.changed_at IS NOT NULL THEN g.changed_at ELSE clock_timestamp() END
      FROM found f
     WHERE g.fingerprint = f.fingerprint AND f.state = %(seen)s
    RETURNING g.fingerprint
),
written AS (
    INSERT INTO failure_group_change (fingerprint, from_state, to_state, actor, reason)
    SELECT f.fingerprint, f.state, %(state)s, %(actor)s, %(reason)s
      FROM found f
      JOIN changed USING (fingerprint)
)
SELECT f.state, f.owner, f.note, EXISTS (SELECT FROM changed) AS changed,
       CASE WHEN EXISTS (SELECT FROM changed) THEN pg_notify('detiq_changed', '') END AS told
  FROM found f
