-- How the released jobs fared: the first end of each since its release, of those that ended last.
SELECT count(*)::integer AS ended, count(*) FILTER (WHERE e.to_status IN ('RETRY_WAIT', 'FAILED'))::integer AS failed
  FROM (SELECT h.to_status
          FROM (SELECT job_id, at FROM operation_item
                 WHERE operation_id = %(id)s AND outcome = 'done' AND at >= %(since)s::timestamptz
                   AND position <= (SELECT reached FROM operation WHERE id = %(id)s)
                 ORDER BY position DESC LIMIT %(looked_at)s) i
         CROSS JOIN LATERAL (SELECT h.id, h.to_status FROM job_history h
                              WHERE h.job_id = i.job_id AND h.at >= i.at
                                AND h.from_status IN ('RUNNING', 'CANCEL_REQUESTED')
                                AND h.to_status IN ('DONE', 'FAILED', 'CANCELLED', 'RETRY_WAIT')
                              ORDER BY h.id LIMIT 1) h
         ORDER BY h.id DESC
         LIMIT %(of)s) e
