"""Fills tables fast: without triggers and secondary indexes, which are put back after it."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

from psycopg import sql

from jobs.bench import statements
from jobs.bench.backlogs import Block, Pause
from jobs.bench.statements import Connection

JOBS, RAW, SOURCE = "PlatformJob", "raw_job", "source_job"
_TRIES = 10


def make_rivals(connection: Connection) -> None:
    """Makes the tables of plain SKIP LOCKED and of the source's claim."""
    connection.execute(statements.text("rivals"))


def fill(connection: Connection, blocks: Iterable[Block], tables: Iterable[str]) -> None:
    """Puts the same rows into every table, and tells the planner."""
    parts = list(blocks)
    for table in tables:
        with bare(connection, table):
            for block in parts:
                connection.execute(statements.on_table("fill", table), asdict(block))
    vacuum(connection, tables)


def vacuum(connection: Connection, tables: Iterable[str]) -> None:
    """Tells the planner, and the visibility map that everybody sees these rows.

    A snapshot of a moment (autovacuum's, of its list of databases) keeps a whole vacuum from marking a page: the same
    rows would then be read twice in one run and once in the next. It is tried again for a second.
    """
    for table in tables:
        command = sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(table))
        for _ in range(_TRIES):
            connection.execute(command)
            if _all_visible(connection, table):
                break
            time.sleep(1 / _TRIES)


def _all_visible(connection: Connection, table: str) -> bool:
    row = connection.execute(
        "SELECT relallvisible >= relpages FROM pg_class WHERE oid = %s::regclass", [f'"{table}"']
    ).fetchone()
    return bool(row and row[0])


def hold(connection: Connection, pauses: Iterable[Pause]) -> None:
    for pause in pauses:
        connection.execute(
            "INSERT INTO queue_pause (type, tenant_id, project_id, reason, owner) "
            "VALUES (%(type)s, %(tenant_id)s, %(project_id)s, 'bench', 'bench')",
            asdict(pause),
        )


def release(connection: Connection) -> None:
    """Lifts what `hold` set."""
    connection.execute(
        "UPDATE queue_pause SET lifted_at = clock_timestamp(), lifted_by = 'bench', lift_reason = 'measured' "
        "WHERE owner = 'bench' AND lifted_at IS NULL"
    )


@contextmanager
def bare(connection: Connection, table: str) -> Iterator[None]:
    """The table without triggers and secondary indexes; both are back afterwards."""
    name = sql.Identifier(table)
    indexes = connection.execute(
        "SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) FROM pg_index i "
        "WHERE i.indrelid = %s::regclass AND NOT i.indisprimary",
        [f'"{table}"'],
    ).fetchall()
    connection.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(name))
    for index, _ in indexes:
        connection.execute(sql.SQL("DROP INDEX {}").format(sql.SQL(index)))
    yield
    for _, definition in indexes:
        connection.execute(definition)
    connection.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(name))
