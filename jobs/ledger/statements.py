"""Runs the statements of `sql/`, one a file, on Django's connection, in whatever transaction the caller holds."""

from functools import cache
from pathlib import Path
from typing import Any

from django.db import connection

SQL = Path(__file__).parent / "sql"

type Row = dict[str, Any]


@cache
def _text(name: str) -> str:
    return (SQL / f"{name}.sql").read_text()


def run(name: str, params: Row) -> list[Row]:
    """Runs `sql/<name>.sql` and returns its rows as dicts; none for a statement that returns nothing."""
    with connection.cursor() as cursor:
        cursor.execute(_text(name), params)
        if cursor.description is None:
            return []
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
