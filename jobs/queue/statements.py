"""Runs the statements of `sql/`, one a file, named as its function.

Every statement is run on the connection it is given: Django's, inside whatever transaction the caller holds, or one of
the engine's own psycopg connections in autocommit. Both speak psycopg 3.
"""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from django.db import connection as django_connection

SQL = Path(__file__).parent / "sql"

type Row = dict[str, Any]


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
        if cursor.description is None:
            return []
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
