"""Connections outside Django: the engine's own threads, and Huey's. And how every connection reads times."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg.types.datetime import TimestampBinaryLoader, TimestampLoader


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


def read_times_as_utc() -> None:
    """For every connection of this process, Django's too. Called once, before the first is opened."""
    psycopg.adapters.register_loader("timestamp", UtcTimestampLoader)
    psycopg.adapters.register_loader("timestamp", UtcTimestampBinaryLoader)


read_times_as_utc()


def parameters(settings: Mapping[str, Any], application_name: str | None = None) -> dict[str, Any]:
    """What psycopg needs to open a connection as Django's settings say, outside Django: in autocommit and UTC."""
    options = {key: value for key, value in settings["OPTIONS"].items() if key != "pool"}
    if application_name:
        options["application_name"] = application_name
    return {
        "dbname": settings["NAME"],
        "user": settings["USER"] or None,
        "password": settings["PASSWORD"] or None,
        "host": settings["HOST"] or None,
        "port": settings["PORT"] or None,
        "autocommit": True,
        "connect_timeout": 5,
        **options,
        "options": f"{options.get('options', '')} -c timezone=UTC".strip(),
    }


def connector(settings: Mapping[str, Any]) -> Callable[..., psycopg.Connection[Any]]:
    """Opens a new connection outside Django: for the engine's own threads and for Huey."""

    def connect(application_name: str | None = None) -> psycopg.Connection[Any]:
        return psycopg.connect(**parameters(settings, application_name))

    return connect
