"""The steps, in the order in which the first migration takes them. Each may be repeated at any time."""

import re
from pathlib import Path
from typing import Any

from django.db import DatabaseError, transaction

from jobs.conf import conf
from jobs.queue.adoption import complete
from jobs.queue.adoption.catalog import Existing, look, rows
from jobs.queue.adoption.contract import JOBS, TABLES
from jobs.queue.adoption.judge import judge
from jobs.queue.adoption.report import AdoptionRefused, Finding, Report
from jobs.rows import Row

SQL = Path(__file__).resolve().parents[2] / "migrations" / "sql"
INDEXES = (
    "0001_indexes.sql", "0005_indexes.sql", "0009_indexes.sql", "0010_indexes.sql", "0010_artifact_indexes.sql",
    "0011_indexes.sql", "0014_indexes.sql", "0017_indexes.sql",
)  # fmt: skip
# One that every enqueue would pay for is made where a setting needs it; without it such claims sort all that is queued.
STRICT = "0010_strict_index.sql"
_TRIGRAMS = "gin_trgm_ops"
# Not allowed here, not installed on this server, not in this build.
_NO_EXTENSION = ("42501", "58P01", "0A000")
# An index of a larger table is built without keeping its writers out.
LARGE_BYTES = 16 * 2**20

# What was there before this process began, and what was added to it and is not told yet. The first migration works
# without an output of its own; `migrate` tells it afterwards.
_found: set[str] = set()
_untold: list[str] = []


def adopt_whole(connection: Any) -> Report:
    """All steps on a database that is migrated, for `migrate`: what was lost meanwhile comes back."""
    findings = adopt_columns(connection)
    adopt_indexes(connection)
    adopt_triggers(connection)
    report = Report(list(_untold), findings)
    _untold.clear()
    return report


def adopt_columns(connection: Any) -> list[Finding]:
    """Adds columns, defaults, words and casts to tables that are there. Raises `AdoptionRefused` before any change.

    Returns what is there and is left as it is.
    """
    with connection.cursor() as cursor:
        there = [(table, existing) for table in TABLES if (existing := look(cursor, table.name)) is not None]
        findings = [finding for table, existing in there for finding in judge(table, existing)]
        findings += _not_ours(cursor)
        if fatal := [finding for finding in findings if finding.fatal]:
            raise AdoptionRefused(fatal)
        _found.update(table.name for table, _ in there)
        if look(cursor, "job_history") is not None:
            _found.update(_own_tables())
        for table, existing in there:
            if existing.kind not in ("r", "p") or not existing.owned:
                continue
            for statement in complete.enum_statements(table, existing):
                _outside(connection, statement, f"adds to {table.name}")
                _untold.append(statement)
            if (alter := complete.alter_statement(table, existing)) is not None:
                cursor.execute(alter)
                _untold.append(alter)
    return findings


def make_tables(connection: Any) -> None:
    """Makes the tables that are missing: the shared ones, and all of our own at once."""
    shared, own = _tables_sql()
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        cursor.execute(shared)
        if look(cursor, "job_history") is None:
            cursor.execute(own)


def adopt_indexes(connection: Any) -> None:
    """Makes the indexes that are missing; on a large table CONCURRENTLY, which takes longer and blocks nobody."""
    grown: set[str] = set()
    head = r"CREATE (?:UNIQUE )?INDEX (\w+)\s+ON (\S+)"
    files = (*INDEXES, STRICT) if conf().claim_order == "strict" else INDEXES
    for name, table, statement in [one for file in files for one in _statements(file, head)]:
        if _TRIGRAMS in statement:
            if (trigrams := text_search(connection)) is None:
                continue  # the console then searches the last day alone, and says so
            statement = statement.replace(_TRIGRAMS, trigrams)
        with connection.cursor() as cursor:
            existing = look(cursor, table)
            valid = _index_is_valid(cursor, name)
            if existing is None or not existing.owned or valid:
                continue
            if valid is False:  # what a build that was cut off left
                cursor.execute(f"DROP INDEX {name}")
            if existing.bytes > LARGE_BYTES and existing.kind == "r" and not connection.in_atomic_block:
                _concurrently(connection, statement)
            else:
                cursor.execute(statement)
        _added(f"index {name}", table)
        grown.add(table)
    for table in sorted(grown & _found):
        with connection.cursor() as cursor:  # an index on an expression has no statistics yet
            cursor.execute(f'ANALYZE "{table}"')


def text_search(connection: Any) -> str | None:
    """The operators for an index on parts of a text, from the extension pg_trgm; None where this role may not add it."""
    try:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlstate", None) not in _NO_EXTENSION:
            raise
    with connection.cursor() as cursor:
        found = rows(
            cursor,
            """SELECT quote_ident(n.nspname) || '.gin_trgm_ops' AS name
                 FROM pg_opclass o JOIN pg_namespace n ON n.oid = o.opcnamespace WHERE o.opcname = 'gin_trgm_ops'""",
        )
    return str(found[0]["name"]) if found else None


def adopt_triggers(connection: Any) -> None:
    """Makes the triggers that are missing, and counts the jobs that were there before them."""
    recount = False
    for name, table, statement in _statements(
        "0001_triggers.sql", r"CREATE (?:CONSTRAINT )?TRIGGER (\w+) .*?\bON (\S+)"
    ):
        with connection.cursor() as cursor:
            existing = look(cursor, table)
            if existing is None or not existing.owned or _has_trigger(cursor, existing, name):
                continue
            cursor.execute(statement)
        _added(f"trigger {name}", table)
        recount = recount or table == JOBS.name
    if recount or not _counted(connection):
        count_jobs(connection)


def count_jobs(connection: Any) -> None:
    """Puts the counters right: what the table holds, whatever was counted so far. Blocks no writer of jobs.

    One snapshot sees rows and counters; whatever is changed after it leaves its own delta.
    """
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        if len(connection.savepoint_ids) == 0:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("LOCK TABLE tally_state IN SHARE ROW EXCLUSIVE MODE")  # no folding meanwhile
        cursor.execute(_COUNT)
        cursor.execute(_COUNTED)


_COUNT = """
WITH truth AS (
    SELECT "tenantId" AS tenant_id, type, detiq_state(status::text, dlq) AS state, count(*) AS n
      FROM "PlatformJob" GROUP BY 1, 2, 3
), counted AS (
    SELECT tenant_id, type, state, n FROM tally_state
    UNION ALL
    SELECT tenant_id, type, from_state, -n FROM tally_delta WHERE from_state IS NOT NULL
    UNION ALL
    SELECT tenant_id, type, to_state, n FROM tally_delta WHERE to_state IS NOT NULL
)
INSERT INTO tally_state AS s (tenant_id, type, state, n)
SELECT tenant_id, type, state, sum(n)
  FROM (SELECT * FROM truth UNION ALL SELECT tenant_id, type, state, -n FROM counted) d
 WHERE tenant_id IS NOT NULL AND state IS NOT NULL
 GROUP BY 1, 2, 3 HAVING sum(n) <> 0
ON CONFLICT (tenant_id, type, state) DO UPDATE SET n = s.n + EXCLUDED.n
"""
_COUNTED = """
INSERT INTO sweep_duty (name, ok_at) VALUES ('count_jobs', clock_timestamp())
ON CONFLICT (name) DO UPDATE SET ok_at = EXCLUDED.ok_at, error = NULL
"""


def _added(what: str, table: str) -> None:
    if table in _found:
        _untold.append(f'{what} on "{table}"')


def _tables_sql() -> tuple[str, str]:
    """The shared tables, and those of our own."""
    shared, _, own = (SQL / "0001_tables.sql").read_text().partition("-- Tables of our own.")
    return shared, own


def _not_ours(cursor: Any) -> list[Finding]:
    """Tables that have the name of one of ours, before ours were made."""
    if look(cursor, "job_history") is not None:
        return []
    taken = [name for name in _own_tables() if look(cursor, name) is not None]
    return [Finding(name, "a table of this name is there, and it is not ours", fatal=True) for name in taken]


def _own_tables() -> list[str]:
    return re.findall(r"CREATE TABLE (\w+)", _tables_sql()[1])


def _counted(connection: Any) -> bool:
    with connection.cursor() as cursor:
        return bool(rows(cursor, "SELECT 1 AS yes FROM sweep_duty WHERE name = 'count_jobs' AND ok_at IS NOT NULL"))


def _statements(file: str, head: str) -> list[tuple[str, str, str]]:
    """(name, table, statement) of each statement of a file."""
    text = re.sub(r"--[^\n]*", "", (SQL / file).read_text())
    parts = [part.strip() for part in text.split(";") if part.strip()]
    return [_named(part, head) for part in parts]


def _named(statement: str, head: str) -> tuple[str, str, str]:
    match = re.match(head, statement, re.DOTALL)
    if match is None:
        raise ValueError(f"not understood: {statement[:80]}")
    return match[1], match[2].strip('"'), statement


def _index_is_valid(cursor: Any, name: str) -> bool | None:
    found = rows(
        cursor, "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass(quote_ident(%s))", [name]
    )
    return bool(found[0]["valid"]) if found else None


def _has_trigger(cursor: Any, existing: Existing, name: str) -> bool:
    found: list[Row] = rows(
        cursor, "SELECT 1 AS yes FROM pg_trigger WHERE tgrelid = %s AND tgname = %s", [existing.oid, name]
    )
    return bool(found)


def _concurrently(connection: Any, statement: str) -> None:
    """It waits for old transactions without keeping anybody out, so it may wait long."""
    with connection.cursor() as cursor:
        before = rows(cursor, "SELECT current_setting('lock_timeout') AS it")[0]["it"]
        cursor.execute("SET lock_timeout = 0")
        try:
            cursor.execute(re.sub(r"INDEX (?=\w+\s+ON)", "INDEX CONCURRENTLY ", statement, count=1))
        finally:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", [before])


def _outside(connection: Any, statement: str, why: str) -> None:
    if connection.in_atomic_block:
        raise DatabaseError(f"{statement} ({why}) needs a connection that is in no transaction")
    with connection.cursor() as cursor:
        cursor.execute(statement)
