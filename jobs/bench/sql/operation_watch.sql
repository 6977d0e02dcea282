-- What the operation's process does at this moment: is it at it, and for how long has its batch been open.
SELECT coalesce(bool_or(a.query LIKE '%%INSERT INTO operation_item%%'), false) AS freezes,
       EXISTS (SELECT 1 FROM operation WHERE state = 'RUNNING') AS runs,
       coalesce(max(extract(epoch FROM clock_timestamp() - a.xact_start))
                FILTER (WHERE a.query NOT LIKE '%%INSERT INTO operation_item%%' AND a.state <> 'idle'), 0)::float8 AS open_seconds
  FROM pg_stat_activity a
 WHERE a.datname = current_database() AND a.backend_type = 'client backend' AND a.application_name <> %(own)s
