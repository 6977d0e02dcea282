-- What became of the rows of a batch, in the transaction that changed the jobs: counted once, never twice.
WITH said AS MATERIALIZED (
    SELECT * FROM unnest(%(positions)s::integer[], %(outcomes)s::text[], %(reasons)s::text[], %(details)s::text[])
        AS s (position, outcome, reason, detail)
), written AS (
    UPDATE operation_item i
       SET outcome = s.outcome, reason = s.reason, detail = s.detail, at = clock_timestamp()
      FROM said s
     -- The positions once more: a set that was just frozen has no statistics, and all of it would be read to be joined.
     WHERE i.operation_id = %(id)s AND i.position = ANY (%(positions)s::integer[]) AND i.position = s.position
       AND i.outcome IS NULL
    RETURNING i.outcome
), counted AS (
    SELECT count(*) FILTER (WHERE outcome = 'done')::integer AS done,
           count(*) FILTER (WHERE outcome = 'skipped')::integer AS skipped,
           count(*) FILTER (WHERE outcome = 'failed')::integer AS failed
      FROM written
), told AS MATERIALIZED (SELECT pg_notify('detiq_changed', ''))
UPDATE operation o
   SET done = o.done + c.done, skipped = o.skipped + c.skipped, failed = o.failed + c.failed,
       heartbeat_at = clock_timestamp(), reached = greatest(o.reached, %(reached)s),
       -- Unused allowance of longer than a moment is forfeited, so that a rate never turns into a burst.
       paced_at = greatest(o.paced_at, clock_timestamp() - make_interval(secs => %(burst_seconds)s))
                  + make_interval(secs => c.done * %(seconds_each)s)
  FROM counted c, told
 WHERE o.id = %(id)s
RETURNING o.done, o.skipped, o.failed, o.total
