-- Unless somebody has changed it since the version that was seen.
INSERT INTO alert_rule AS r (name, enabled, critical, threshold, minutes, updated_by)
SELECT %(name)s, %(enabled)s, %(critical)s, %(threshold)s, %(minutes)s, %(by)s
 WHERE %(seen)s = 0 OR EXISTS (SELECT FROM alert_rule WHERE name = %(name)s)
ON CONFLICT (name) DO UPDATE
   SET enabled = EXCLUDED.enabled, critical = EXCLUDED.critical, threshold = EXCLUDED.threshold, minutes = EXCLUDED.minutes,
       updated_by = EXCLUDED.updated_by, updated_at = clock_timestamp(), version = r.version + 1
 WHERE r.version = %(seen)s
RETURNING version
