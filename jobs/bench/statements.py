"""The bench's SQL, one statement a file."""

from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

FOLDER = Path(__file__).parent / "sql"

type Connection = psycopg.Connection[Any]


@cache
def text(name: str) -> str:
    return (FOLDER / f"{name}.sql").read_text()


def on_table(name: str, table: str) -> sql.Composed:
    """The statement with `{table}` replaced by the name of one of the tables that hold the same backlog."""
    return sql.SQL(text(name)).format(table=sql.Identifier(table))
