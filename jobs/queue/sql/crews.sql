-- Who could run jobs of these types: live workers with a handler and their slots. `silent` have a handler and are not
-- heard of, `stopping` take nothing new, `others` are another program's workers that run such jobs now.
WITH type AS (
    SELECT t.type FROM unnest(%(types)s::text[]) AS t (type)
), busy AS MATERIALIZED (
    SELECT j."workerId" AS worker, j.type, count(*) AS n
      FROM "PlatformJob" j
     WHERE j.status IN ('RUNNING', 'CANCEL_REQUESTED') AND NOT j.inline AND j."workerId" IS NOT NULL
     GROUP BY 1, 2
), worker AS MATERIALIZED (
    SELECT w.id, w.types, w.slots, w.stopping,
           w.heartbeat_at < clock_timestamp() - make_interval(secs => %(silent)s) AS silent,
           coalesce((SELECT sum(b.n) FROM busy b WHERE b.worker = w.id), 0) AS busy
      FROM worker w
     WHERE w.stopped_at IS NULL AND w.heartbeat_at > clock_timestamp() - make_interval(secs => %(forget)s)
)
SELECT t.type,
       count(w.id) FILTER (WHERE NOT w.silent AND NOT w.stopping)::integer AS live,
       count(w.id) FILTER (WHERE w.silent)::integer AS silent,
       count(w.id) FILTER (WHERE w.stopping AND NOT w.silent)::integer AS stopping,
       coalesce(sum(w.slots) FILTER (WHERE NOT w.silent AND NOT w.stopping), 0)::integer AS slots,
       coalesce(sum(greatest(w.slots - w.busy, 0)) FILTER (WHERE NOT w.silent AND NOT w.stopping), 0)::integer AS free,
       (SELECT count(DISTINCT b.worker)
          FROM busy b
         WHERE b.type = t.type AND NOT EXISTS (SELECT 1 FROM worker r WHERE r.id = b.worker))::integer AS others,
       (SELECT count(*) FROM worker WHERE NOT silent AND NOT stopping)::integer AS workers
  FROM type t
  LEFT JOIN worker w ON t.type = ANY (w.types)
 GROUP BY t.type
