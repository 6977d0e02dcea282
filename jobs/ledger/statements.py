"""Runs the statements of `sql/`, one a file, on Django's connection, in whatever transaction the caller holds."""

from functools import cache
from pathlib import Path

from django.db import connection

from jobs.rows import Row, as_dicts

SQL = Path(__file__).parent / "sql"


@cache
def _text(name: str) -> str:
    return (SQL / f"{name}.sql").read_text()


def run(name: str, params: Row) -> list[Row]:
    """Runs `sql/<name>.sql` and returns its rows as dicts; none for a statement that returns nothing."""
    with connection.cursor() as cursor:
        cursor.execute(_text(name), params)
        return as_dicts(cursor)
