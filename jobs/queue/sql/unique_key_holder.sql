SELECT id
  FROM "PlatformJob"
 WHERE "uniqueKey" = %(unique_key)s AND status IN ('QUEUED', 'RUNNING', 'RETRY_WAIT', 'CANCEL_REQUESTED')
