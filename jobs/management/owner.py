"""Work done as the owner of the tables (`DATABASE_OWNER_URL`) instead of the role that serves."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import CommandError
from django.db.backends.base.base import BaseDatabaseWrapper

from jobs.queue.connections import connector

OLDEST_VERSION = 15
# Any number of ours will do, as long as every release uses the same.
_MIGRATE_LOCK = 0x6465_7469_71
_LOOK_AGAIN_SECONDS = 0.5
_WHO = ("USER", "PASSWORD", "HOST", "PORT", "OPTIONS")


def owner_settings(connection: BaseDatabaseWrapper, **parameters: str) -> dict[str, Any]:
    """Settings that reach `connection`'s database as its owner; `parameters` are set for the session."""
    owner = settings.DATABASE_OWNER
    options = {key: value for key, value in owner["OPTIONS"].items() if key != "pool"}
    switches = " ".join(f"-c {name}={value}" for name, value in parameters.items())
    return {
        **connection.settings_dict,
        **{key: owner[key] for key in _WHO},
        "OPTIONS": {**options, "options": f"{options.get('options', '')} {switches}".strip()},
    }


@contextmanager
def as_owner(connection: BaseDatabaseWrapper, **parameters: str) -> Iterator[None]:
    """For the duration `connection`, Django's own, works as the owner."""
    served_with = connection.settings_dict
    connection.close()
    connection.settings_dict = owner_settings(connection, **parameters)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict = served_with


@contextmanager
def one_at_a_time(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Waits for any other migration of this database to end, and keeps others out for the duration.

    Held by a transaction of its own, which works behind a pooler too. Raises CommandError when the database cannot be
    reached or is too old.
    """
    try:
        lock = connector(owner_settings(connection))("detiq-migrate")
    except psycopg.OperationalError as error:
        raise CommandError(unreachable(error)) from error
    with lock:
        refuse_old(lock.info.server_version)
        while not _locked(lock):
            time.sleep(_LOOK_AGAIN_SECONDS)
        yield


def _locked(lock: psycopg.Connection[Any]) -> bool:
    """Tries to take the lock in a transaction that is left open, and holds no snapshot, waiting or working.

    An index that is built CONCURRENTLY waits for every older snapshot, and would wait for ours for ever.
    """
    lock.execute("BEGIN")
    if lock.execute("SELECT pg_try_advisory_xact_lock(%s)", [_MIGRATE_LOCK]).fetchone() == (True,):
        lock.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # also lets go of the SELECT's snapshot
        return True
    lock.execute("ROLLBACK")
    return False


def refuse_old(server_version: int) -> None:
    """Raises CommandError for a server older than we support. `server_version` as libpq gives it: 150018 is 15.18."""
    major, minor = divmod(server_version, 10_000)
    if major < OLDEST_VERSION:
        raise CommandError(
            f"the server is PostgreSQL {major}.{minor}; Detiq Admin needs {OLDEST_VERSION} or later.", returncode=1
        )


def unreachable(error: Exception) -> str:
    """One line for a database that does not answer. Never holds the password: libpq does not repeat it."""
    reason = " ".join(str(error).split())
    if settings.EMBEDDED:
        return f"the embedded PostgreSQL is not running; `manage.py up` starts it. ({reason})"
    return f"the database cannot be reached; check DATABASE_URL and DATABASE_OWNER_URL. ({reason})"


def serving_role(connection: BaseDatabaseWrapper) -> str:
    """The role that console and workers connect as. Raises CommandError when it cannot connect."""
    try:
        with connector(connection.settings_dict)("detiq-migrate") as serving:
            row = serving.execute("SELECT current_user::text").fetchone()
    except psycopg.OperationalError as error:
        raise CommandError(unreachable(error)) from error
    return str(row[0]) if row else ""
