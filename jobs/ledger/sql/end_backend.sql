-- Ends one session, if it is of this program: same database, same role, same name.
SELECT pg_terminate_backend(a.pid)
  FROM pg_stat_activity a
  JOIN pg_stat_activity me ON me.pid = pg_backend_pid()
 WHERE a.pid = %(backend)s AND a.pid <> me.pid
   AND (a.datid, a.usesysid, a.application_name) = (me.datid, me.usesysid, me.application_name)
