SELECT count(*) AS n
  FROM (SELECT 1
          FROM gate_history g
         WHERE g.at < now() - make_interval(secs => %(keep_seconds)s) AND g.source <> 'begin'
           AND (g.row IS NULL OR g.row ->> 'lifted_at' IS NOT NULL
                OR EXISTS (SELECT 1 FROM gate_history l
                            WHERE l.source = g.source AND l.key = g.key AND l.id > g.id
                              AND l.at < now() - make_interval(secs => %(keep_seconds)s)))
         LIMIT %(most)s) old
