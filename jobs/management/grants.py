"""What the role that serves may do with the owner's tables."""

from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

# Nobody who serves may change what happened; a trigger says so too, but a role that owns nothing cannot drop it.
APPEND_ONLY = ("audit_entry", "job_history")

_OWN_RELATIONS = """
SELECT c.relname, c.relkind::text FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
  AND pg_has_role(c.relowner, 'USAGE')
"""
_OWN_ROUTINES = """
SELECT p.oid::regprocedure::text FROM pg_proc p
WHERE p.pronamespace = 'public'::regnamespace AND p.proowner = current_user::regrole
"""
_DEFAULTS = (
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT EXECUTE ON ROUTINES TO {role}",
)


def grant(connection: BaseDatabaseWrapper, role: str) -> None:
    """Lets `role` read and write, but own and redefine nothing. `connection` is the owner's. May be repeated."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user::text")
        if cursor.fetchone() == (role,):
            return  # one shared role: the settings page says what is then only protected by triggers
        who = sql.Identifier(role)
        cursor.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(who))
        for statement in _DEFAULTS:
            cursor.execute(sql.SQL(statement).format(role=who))
        cursor.execute(_OWN_RELATIONS)
        for name, kind in cursor.fetchall():
            for statement in _relation_grants(name, kind):
                cursor.execute(sql.SQL(statement).format(it=sql.Identifier("public", name), role=who))
        cursor.execute(_OWN_ROUTINES)
        for (signature,) in cursor.fetchall():
            cursor.execute(sql.SQL(f"GRANT EXECUTE ON ROUTINE {signature} TO {{}}").format(who))


def _relation_grants(name: str, kind: str) -> list[str]:
    if kind == "S":
        return ["GRANT USAGE, SELECT ON SEQUENCE {it} TO {role}"]
    if name in APPEND_ONLY:
        return ["REVOKE UPDATE, DELETE, TRUNCATE ON {it} FROM {role}", "GRANT SELECT, INSERT ON {it} TO {role}"]
    return ["GRANT SELECT, INSERT, UPDATE, DELETE ON {it} TO {role}"]
