SELECT fingerprint, left(type, 200) AS type, left(sample, 300) AS sample, changed_at, owner
  FROM failure_group WHERE state = 'REGRESSED' ORDER BY changed_at DESC NULLS LAST, fingerprint LIMIT %(most)s
