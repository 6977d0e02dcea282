-- The next rows of the set, in their order.
SELECT position, job_id, state, redrives
  FROM operation_item
 WHERE operation_id = %(id)s AND outcome IS NULL AND position > %(after)s
 ORDER BY position
 LIMIT %(limit)s
