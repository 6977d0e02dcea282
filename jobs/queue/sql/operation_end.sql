-- Done once nothing is left to decide. The counters say so at once; the rows are asked only when those do not.
UPDATE operation o
   SET state = 'DONE', finished_at = clock_timestamp(), runner = NULL
 WHERE o.id = %(id)s AND o.state = 'RUNNING' AND o.runner = %(runner)s
   AND (o.done + o.skipped + o.failed >= o.total
        OR NOT EXISTS (SELECT 1 FROM operation_item i WHERE i.operation_id = o.id AND i.outcome IS NULL))
RETURNING o.done, o.skipped, o.failed, o.total
