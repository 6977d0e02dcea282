"""Runs the statements of `sql/`, one a file, on the connection it is given: Django's, or one of the engine's own."""

from functools import cache
from pathlib import Path
from typing import Any

from django.db import connection as django_connection

from jobs.queue.statements import Connection
from jobs.rows import Row, as_dicts

SQL = Path(__file__).parent / "sql"


@cache
def _text(name: str) -> str:
    return (SQL / f"{name}.sql").read_text()


def run(name: str, params: Row, using: Connection | None = None) -> list[Row]:
    """Runs `sql/<name>.sql` and returns its rows as dicts; none for a statement that returns nothing."""
    with (using or django_connection).cursor() as cursor:
        cursor.execute(_text(name), params)
        return as_dicts(cursor)


def one(name: str, params: Row, using: Connection | None = None) -> dict[str, Any]:
    """The row of a statement that has one."""
    return run(name, params, using)[0]
