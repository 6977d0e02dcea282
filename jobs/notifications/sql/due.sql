-- Dead letters whose owners are to be told, with what the job says of an artifact. Whoever else tells has his own. What could
-- not be told is tried again 3 min, 15 min, 1 h and 4 h after the death.
SELECT d.id, d.tenant_id, d.job_id, left(d.type, 200) AS type, d.failure_type, d.error, d.at, d.tries,
       left(j.name, 200) AS name, left(j.config ->> 'artifactId', 200) AS artifact_id,
       left(j.config ->> 'artifactName', 200) AS artifact_name
  FROM (SELECT * FROM notice_due
         WHERE tries < %(most_tries)s AND id > %(after)s
           AND (tries = 0 OR clock_timestamp() >= at + (4 ^ tries - 1) * interval '1 minute')
         ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED) d
  LEFT JOIN "PlatformJob" j ON j.id = d.job_id AND jsonb_typeof(j.config) = 'object'
 ORDER BY d.id
