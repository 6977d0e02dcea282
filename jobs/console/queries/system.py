"""The state of the installation itself."""

import threading
from collections.abc import Mapping
from typing import Any

import psycopg
from django.db.migrations.loader import MigrationLoader

from jobs.console.queries.db import fetch, fetch_one
from jobs.rows import Row

READY_SECONDS = 2

_disk: list[tuple[str, str]] = []
_lock = threading.Lock()


class NotReady(Exception):
    """Why the console cannot serve."""


def writable() -> bool:
    """Does the database take changes, from this console?"""
    row = fetch_one("SELECT current_setting('transaction_read_only') = 'off' AS yes")
    return bool(row and row["yes"])


def readiness(database: Mapping[str, Any]) -> dict[str, Any]:
    """Is the database there, and as new as the code? On a connection of its own, so that a full pool does not hide it.

    Raises `NotReady`.
    """
    from django.db import connection

    name = connection.settings_dict["NAME"]
    options = {
        key: value for key, value in database["OPTIONS"].items() if key not in {"pool", "options", "isolation_level"}
    }
    try:
        with psycopg.connect(
            dbname=name,
            user=database["USER"] or None,
            password=database["PASSWORD"] or None,
            host=database["HOST"] or None,
            port=database["PORT"] or None,
            autocommit=True,
            options=f"-c statement_timeout={READY_SECONDS * 1000}",
            **{**options, "connect_timeout": READY_SECONDS, "application_name": "detiq-ready"},
        ) as other:
            applied = {(row[0], row[1]) for row in other.execute("SELECT app, name FROM django_migrations")}
            reads = other.execute("SHOW transaction_read_only").fetchone() == ("on",)
            owner = other.execute("""SELECT pg_has_role(session_user, relowner, 'MEMBER') FROM pg_class
                                      WHERE oid = to_regclass('audit_entry')""").fetchone()
    except psycopg.Error as error:
        raise NotReady(f"database: {str(error).splitlines()[0][:200]}") from error
    missing = [f"{app}.{migration}" for app, migration in _on_disk() if (app, migration) not in applied]
    if missing:
        raise NotReady(f"{len(missing)} migrations are not applied, first {missing[0]}; run manage.py migrate")
    note = OWNS if owner and owner[0] else ""
    return {"database": "read-only" if reads else "reachable", "migrations": "applied"} | (
        {"note": note} if note else {}
    )


OWNS = (
    "the serving role owns the tables: that history and audit are append-only is then protected by triggers only, "
    "which an owner can switch off; set DATABASE_OWNER_URL to a role of its own"
)


def _on_disk() -> list[tuple[str, str]]:
    """The migrations of the code; read once."""
    with _lock:
        if not _disk:
            _disk.extend(sorted(MigrationLoader(None, ignore_no_migrations=True).disk_migrations))
        return list(_disk)


def facts() -> Row:
    """The server, the role, and what that role owns."""
    rows = fetch(
        """SELECT current_setting('server_version') AS version, session_user::text AS role,
                  current_database()::text AS database,
                  pg_has_role(session_user, c.relowner, 'MEMBER') AS owns,
                  pg_size_pretty(pg_database_size(current_database())) AS size
             FROM pg_class c WHERE c.oid = to_regclass('audit_entry')"""
    )
    return rows[0] if rows else {}


def duties() -> list[Row]:
    """What the sweep did, and when."""
    return fetch(
        """SELECT name, looked_at, ok_at, changed, rows_left, left(error, 300) AS error
             FROM sweep_duty ORDER BY name LIMIT 100"""
    )
