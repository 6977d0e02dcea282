-- Where runs begin and end, by job in the order it happened. `began`: the row became live; else it ceased to be.
SELECT h.job_id, h.tenant_id, h.type, h.at, h.actor, h.worker_id AS worker, h.run_started_at AS started, h.inline,
       coalesce(h.to_status IN ('RUNNING', 'CANCEL_REQUESTED'), false) AS began, h.from_status, h.to_status
  FROM job_history h
 WHERE h.at >= %(since)s
   AND coalesce(h.from_status IN ('RUNNING', 'CANCEL_REQUESTED'), false)
       <> coalesce(h.to_status IN ('RUNNING', 'CANCEL_REQUESTED'), false)
 ORDER BY h.job_id, h.id
