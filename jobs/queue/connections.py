"""Connections outside Django: the engine's own threads, and Huey's. And how every connection reads times."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg import DataError
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.types.datetime import TimestampBinaryLoader, TimestampLoader, TimestamptzLoader

# Far enough from what Python can hold that a page may add a retention or a pace to a time, in any zone.
EARLIEST = datetime(100, 1, 1, tzinfo=UTC)
LATEST = datetime(9900, 12, 31, tzinfo=UTC)
_IN_UTC = b"+00"

# A claim locks and then counts: that needs a fresh view in each statement, whatever the role or the database says.
# A pooler that was told to ignore the options of a start ignores the zone among them. Whoever listens is idle for hours.
_SESSION = "SET default_transaction_isolation = 'read committed'; SET timezone = 'UTC'; SET idle_session_timeout = 0"
# So often a statement is run before the server keeps its plan for this session.
_PREPARE_AFTER = 5
_SHARE_TRIES = 10


class UtcTimestampLoader(TimestampLoader):
    """A time without zone, as other programs' tables hold it, is UTC."""

    def load(self, data: Any) -> datetime:
        """The time, aware."""
        return super().load(data).replace(tzinfo=UTC)


class UtcTimestampBinaryLoader(TimestampBinaryLoader):
    """The same in the binary format."""

    def load(self, data: Any) -> datetime:
        """The time, aware."""
        return super().load(data).replace(tzinfo=UTC)


class BoundedTimestamptz(TimestamptzLoader):
    """Times that Python cannot hold (infinity, the year 12000), or that are too near to those, become the nearest that can
    be shown and reckoned with."""

    timezone = UTC  # as Django's loaders say it

    def load(self, data: Any) -> datetime:
        """The time, or the first or last showable one."""
        text = bytes(data)
        if text.endswith(_IN_UTC):  # as every session of ours has it; a page reads hundreds of these
            with suppress(ValueError):
                return _between(datetime.fromisoformat(text.decode()))
        return _bounded(super().load, text)


class BoundedTimestamp(UtcTimestampLoader):
    """The same for times without zone."""

    def load(self, data: Any) -> datetime:
        """The time, or the first or last showable one."""
        return _bounded(super().load, data)


def _between(time: datetime) -> datetime:
    return min(max(time, EARLIEST), LATEST)


def _bounded(load: Callable[[Any], datetime], data: Any) -> datetime:
    try:
        return _between(load(data))
    except DataError:
        text = bytes(data)
        return EARLIEST if text.startswith(b"-") or text.endswith(b"BC") else LATEST


def read_times_safely() -> None:
    """For every connection of this process: one row of no time must not make a whole answer unreadable. Called once,
    before the first is opened. Django's have loaders of their own: see `bound_times`."""
    psycopg.adapters.register_loader("timestamptz", BoundedTimestamptz)
    psycopg.adapters.register_loader("timestamp", BoundedTimestamp)
    psycopg.adapters.register_loader("timestamp", UtcTimestampBinaryLoader)


def bound_times(connection: psycopg.Connection[Any]) -> None:
    """The same for one of Django's connections."""
    connection.adapters.register_loader("timestamptz", BoundedTimestamptz)
    connection.adapters.register_loader("timestamp", BoundedTimestamp)


read_times_safely()


def parameters(settings: Mapping[str, Any], application_name: str | None = None) -> dict[str, Any]:
    """What psycopg needs to open a connection as Django's settings say, outside Django: in autocommit and UTC."""
    options = {key: value for key, value in settings["OPTIONS"].items() if key not in {"pool", "isolation_level"}}
    if application_name:
        options["application_name"] = application_name
    return {
        "dbname": settings["NAME"],
        "user": settings["USER"] or None,
        "password": settings["PASSWORD"] or None,
        "host": settings["HOST"] or None,
        "port": settings["PORT"] or None,
        "autocommit": True,
        "client_encoding": "UTF8",
        "connect_timeout": 5,
        "prepare_threshold": None,  # what one session prepared the next does not know, and a pooler changes them
        **options,
        "options": f"{options.get('options', '')} -c timezone=UTC".strip(),
    }


def connector(settings: Mapping[str, Any]) -> Callable[..., psycopg.Connection[Any]]:
    """Opens a new connection outside Django: for the engine's own threads and for Huey."""

    def connect(application_name: str | None = None) -> psycopg.Connection[Any]:
        connection = psycopg.connect(**parameters(settings, application_name))
        try:
            connection.execute(_SESSION)
            connection.prepare_threshold = None if behind_pooler(connection) else _PREPARE_AFTER
        except BaseException:
            connection.close()
            raise
        return connection

    return connect


# What people are told then.
ONLY_READ = (
    "The database can only be read: it is a standby, or a primary that another one replaced. Nothing was changed."
)


def only_reads(error: BaseException) -> bool:
    """Was a change refused because the server takes none at present? Django's errors have psycopg's as their cause."""
    return isinstance(error, ReadOnlySqlTransaction) or isinstance(error.__cause__, ReadOnlySqlTransaction)


def behind_pooler(connection: psycopg.Connection[Any]) -> bool:
    """Is there a pooler between? It names a process of its own, not the server's."""
    return connection.info.backend_pid != _session(connection)


def sessions_change(connect: Callable[..., psycopg.Connection[Any]]) -> bool:
    """Does a pooler in transaction mode give a connection another session now and then? Nothing can be heard there."""
    with connect() as one:
        if not behind_pooler(one):
            return False
        with connect() as other:  # somebody else may come between now and then
            return any(_share(one, other) for _ in range(_SHARE_TRIES))


def _share(one: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> bool:
    """Do these two use the same sessions? While one has no transaction the other may get what it had."""
    before = _session(one)
    with other.transaction():
        return _session(other) == before or _session(one) != before


def _session(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    assert row is not None  # noqa: S101  (a SELECT without FROM has one row)
    return int(row[0])
