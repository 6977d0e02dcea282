-- Alerts that are long over, with their messages; tests; deaths that nobody could be told of; who was told of which pause;
-- hours that nothing is judged by.
WITH pruned AS (
    DELETE FROM alert
     WHERE id = ANY (ARRAY(SELECT id FROM alert WHERE closed_at < now() - make_interval(secs => %(keep_seconds)s)
                            ORDER BY closed_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING 1
), tests AS (
    DELETE FROM alert_delivery WHERE event = 'test' AND created_at < now() - make_interval(secs => %(keep_seconds)s)
), untold AS (
    DELETE FROM notice_due
     WHERE id = ANY (ARRAY(SELECT id FROM notice_due WHERE at < now() - make_interval(secs => %(keep_seconds)s)
                            ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
    RETURNING 1
), pauses AS (
    DELETE FROM notice_pause k WHERE told_at < now() - make_interval(secs => %(keep_seconds)s)
       AND NOT EXISTS (SELECT FROM queue_pause p
                        WHERE k.pause = 'pause:' || p.id AND lifted_at IS NULL AND (ends_at IS NULL OR ends_at > now()))
       AND (k.pause NOT LIKE 'flag:%%' OR NOT EXISTS (SELECT FROM "SystemConfig" WHERE key = 'queue.paused'
                                                                                   AND lower(btrim(value)) = 'true'))
), hours AS (
    DELETE FROM type_hour WHERE hour < now() - interval '60 days'
)
SELECT (SELECT count(*) FROM pruned)::integer AS pruned,
       (SELECT count(*) FROM pruned) = %(limit)s OR (SELECT count(*) FROM untold) = %(limit)s AS more
