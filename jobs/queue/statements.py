"""Runs the statements of `sql/`, one a file, named as its function.

Every statement is run on the connection it is given: Django's, inside whatever transaction the caller holds, or one of
the engine's own psycopg connections in autocommit. Both speak psycopg 3.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import psycopg
from django.db import connection as django_connection
from django.db import transaction as django_transaction

from jobs.rows import Row, as_dicts

SQL = Path(__file__).parent / "sql"


class Cursor(Protocol):
    description: Any

    def execute(self, query: Any, params: Any = None, /) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Connection(Protocol):
    """What a statement needs of a connection."""

    def cursor(self) -> Any: ...


class Statement(NamedTuple):
    name: str
    text: str


@cache
def statement(name: str) -> Statement:
    return Statement(name, (SQL / f"{name}.sql").read_text())


def run(name: str, params: Row, using: Connection | None = None) -> list[Row]:
    """Runs `sql/<name>.sql` and returns its rows as dicts; none for a statement that returns nothing."""
    with (using or django_connection).cursor() as cursor:
        cursor.execute(statement(name).text, params)
        return as_dicts(cursor)


def copy_in(name: str, rows: Iterable[tuple[Any, ...]], using: Connection | None = None) -> None:
    """Feeds the rows to `sql/<name>.sql`, a COPY FROM STDIN. Errors are psycopg's own on either kind of connection."""
    with (using or django_connection).cursor() as cursor, cursor.copy(statement(name).text) as copy:
        for row in rows:
            copy.write_row(row)


def transaction(using: Connection | None = None) -> AbstractContextManager[Any]:
    """A transaction, or a savepoint in the one that is open. What is no psycopg connection is Django's."""
    return using.transaction() if isinstance(using, psycopg.Connection) else django_transaction.atomic()
