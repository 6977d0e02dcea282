-- Bulk operations that ended long ago (those that are open have no end): their rows first, a batch at a time, then they
-- themselves. What can still be undone stays. The audit trail keeps who did what, why and to how many.
WITH old AS MATERIALIZED (
    SELECT o.id FROM operation o
     WHERE o.finished_at < now() - make_interval(secs => %(keep_seconds)s)
       AND NOT EXISTS (SELECT 1 FROM job_trash t WHERE t.operation_id = o.id)
     ORDER BY o.id LIMIT 20 FOR UPDATE SKIP LOCKED
), chosen AS MATERIALIZED (
    SELECT i.operation_id, i.position
      FROM old
     CROSS JOIN LATERAL (SELECT operation_id, position FROM operation_item
                          WHERE operation_id = old.id ORDER BY position LIMIT %(limit)s) i
     LIMIT %(limit)s
), items AS (
    DELETE FROM operation_item i USING chosen c
     WHERE i.operation_id = c.operation_id AND i.position = c.position
    RETURNING 1
), empty AS (
    DELETE FROM operation o USING old
     WHERE o.id = old.id AND NOT EXISTS (SELECT 1 FROM operation_item i WHERE i.operation_id = o.id)
    RETURNING 1
)
SELECT ((SELECT count(*) FROM items) + (SELECT count(*) FROM empty))::integer AS pruned, EXISTS (SELECT 1 FROM old) AS more
