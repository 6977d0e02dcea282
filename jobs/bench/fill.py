"""Fills tables fast: without triggers and secondary indexes, which are put back after it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

from psycopg import sql

from jobs.bench import statements
from jobs.bench.backlogs import Block, Pause
from jobs.bench.statements import Connection

JOBS, RAW, SOURCE = "PlatformJob", "raw_job", "source_job"


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
    for table in tables:
        connection.execute(sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(table)))


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
