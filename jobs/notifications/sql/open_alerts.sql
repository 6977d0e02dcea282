-- `lapses`: how often the same has been over within the last day.
WITH lapsed AS MATERIALIZED (
    SELECT rule, subject, count(*) AS n FROM alert WHERE closed_at > %(now)s::timestamptz - interval '1 day' GROUP BY 1, 2
)
SELECT a.id, a.rule, a.subject, a.critical, a.seen_at, coalesce(l.n, 0) AS lapses
  FROM alert a LEFT JOIN lapsed l ON l.rule = a.rule AND l.subject = a.subject
 WHERE a.closed_at IS NULL
 ORDER BY a.id
   FOR UPDATE OF a
