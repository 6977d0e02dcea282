-- `lapses`: how often the same has been over within the last day.
SELECT a.id, a.rule, a.subject, a.critical, a.seen_at,
       (SELECT count(*) FROM alert p
         WHERE p.rule = a.rule AND p.subject = a.subject AND p.closed_at > %(now)s::timestamptz - interval '1 day') AS lapses
  FROM alert a
 WHERE a.closed_at IS NULL
 ORDER BY a.id
   FOR UPDATE
