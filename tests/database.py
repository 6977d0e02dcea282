"""Puts the test database back to what the migrations left in it."""

from django.db import OperationalError, connection, transaction
from psycopg.errors import DeadlockDetected

# Filled by migrate itself, and never changed by a test.
KEPT = ("django_migrations", "django_content_type", "auth_permission")
_SEEDS = "test_seeds"

_TABLES = """
SELECT c.relname FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND c.relname <> ALL (%s)
ORDER BY c.relname
"""
# Tables that only ever grow have a trigger that refuses TRUNCATE, for their owner too (bit 32 of tgtype).
_TRUNCATE_GUARDS = """
SELECT t.tgrelid::regclass::text, quote_ident(t.tgname), t.tgenabled FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = 'public'::regnamespace AND NOT t.tgisinternal
  AND t.tgenabled <> 'D' AND (t.tgtype & 32 = 32 OR t.tgtype & 4 = 4)
"""
_ENABLE = {"O": "ENABLE TRIGGER", "A": "ENABLE ALWAYS TRIGGER", "R": "ENABLE REPLICA TRIGGER"}


def keep_seeds() -> None:
    """Remembers the rows that migrations inserted. Called once, right after the test database was made."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DROP SCHEMA IF EXISTS {_SEEDS} CASCADE")
        cursor.execute(f"CREATE SCHEMA {_SEEDS}")
        for table in _filled(cursor, _tables(cursor)):
            cursor.execute(f"CREATE TABLE {_SEEDS}.{_quote(table)} AS TABLE public.{_quote(table)}")


def reset_database() -> None:
    """Empties every table and puts the migrations' own rows back. Waits at most 10 s for other sessions' locks.

    A console that still reads takes its tables in an order of its own: then this session may be the one that is told of a
    deadlock, and begins again.
    """
    for again in (True, True, False):
        try:
            return _reset()
        except OperationalError as error:
            if not (again and isinstance(error.__cause__, DeadlockDetected)):
                raise


def _reset() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '10s'")
        filled = _filled(cursor, _tables(cursor))
        seeds = _names(
            cursor, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = %s::regnamespace", _SEEDS
        )
        if not filled:
            return
        cursor.execute(_TRUNCATE_GUARDS)
        guards = [row for row in cursor.fetchall() if row[0].strip('"') in {*filled, *seeds}]
        for table, trigger, _ in guards:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")
        cursor.execute(f"TRUNCATE {', '.join(map(_quote, filled))} RESTART IDENTITY CASCADE")
        for table in set(seeds) - set(_filled(cursor, seeds)):
            cursor.execute(f"INSERT INTO public.{_quote(table)} OVERRIDING SYSTEM VALUE TABLE {_SEEDS}.{_quote(table)}")
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with checks still due cannot be altered
        for table, trigger, enabled in guards:
            cursor.execute(f"ALTER TABLE {table} {_ENABLE[enabled]} {trigger}")


def _tables(cursor) -> list[str]:
    return _names(cursor, _TABLES, list(KEPT))


def _filled(cursor, tables: list[str]) -> list[str]:
    if not tables:
        return []
    return _names(
        cursor,
        " UNION ALL ".join(f"SELECT %s WHERE EXISTS (SELECT FROM public.{_quote(table)})" for table in tables),
        *tables,
    )


def _names(cursor, query: str, *parameters) -> list[str]:
    cursor.execute(query, parameters)
    return [name for (name,) in cursor.fetchall()]


def _quote(name: str) -> str:
    return connection.ops.quote_name(name)
