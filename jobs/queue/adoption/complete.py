"""The statements that add what a table lacks: columns, defaults, words of an enum, a cast. None rewrites the table."""

from collections.abc import Iterator

from jobs.queue.adoption.catalog import Existing, Found
from jobs.queue.adoption.contract import JOBS, NOW, Column, Kind, Table

# Heartbeats and progress rewrite a row in place when its page has room; the vacuum keeps up with a busy queue.
_STORAGE = (
    "fillfactor = 85",
    "autovacuum_vacuum_scale_factor = 0.02",
    "autovacuum_vacuum_threshold = 1000",
    "autovacuum_vacuum_insert_scale_factor = 0.05",
    "autovacuum_analyze_scale_factor = 0.02",
    "autovacuum_vacuum_cost_delay = 0",
)


def enum_statements(table: Table, existing: Existing) -> Iterator[str]:
    """Run outside a transaction: a word that was added can be used only after its commit.

    The cast lets our statements assign text, as CASE and parameters give it. It holds for assignments alone, so that no
    query of another program is read in another way.
    """
    for column in table.columns:
        found = existing.columns.get(column.name)
        if found is None or not found.is_enum or column.kind is not Kind.WORD:
            continue
        for word in column.words:
            if word not in found.labels:
                yield f"ALTER TYPE {found.type} ADD VALUE IF NOT EXISTS '{word}'"
        if not found.castable:
            yield f"CREATE CAST (text AS {found.type}) WITH INOUT AS ASSIGNMENT"


def alter_statement(table: Table, existing: Existing) -> str | None:
    """One statement and one short lock for all that is missing; None when nothing is."""
    clock = existing.columns.get(table.clock)
    parts = [part for column in table.columns for part in _column(column, existing.columns.get(column.name), clock)]
    parts += _foreign_times(table, existing)
    if table is JOBS:
        parts += _storage(existing)
    return f'ALTER TABLE "{table.name}" ' + ", ".join(parts) if parts else None


def _column(column: Column, found: Found | None, clock: Found | None) -> Iterator[str]:
    name = f'"{column.name}"'
    if found is not None:
        usable = found.is_enum or found.type in column.kind.value
        if column.default and usable and found.default is None and not found.generated:
            yield f"ALTER COLUMN {name} SET DEFAULT {_default(column, found.type)}"
        return
    type_ = clock.full if column.kind is Kind.TIME and clock else column.kind.made
    if column.default is None:
        # Rows that are there have no value for it, so it cannot be NOT NULL.
        yield f"ADD COLUMN {name} {type_}"
    elif column.default == NOW:
        # First a constant, which rewrites nothing, then what the column is to have.
        yield f"ADD COLUMN {name} {type_} NOT NULL DEFAULT now()"
        yield f"ALTER COLUMN {name} SET DEFAULT {_default(column, type_)}"
    else:
        yield f"ADD COLUMN {name} {type_} NOT NULL DEFAULT {column.default}"


def _default(column: Column, type_: str) -> str:
    return _now(type_) if column.default == NOW else str(column.default)


def _now(type_: str) -> str:
    """Also right in a session with another time zone."""
    return "clock_timestamp()" if "with time zone" in type_ else "(clock_timestamp() AT TIME ZONE 'UTC')"


def _foreign_times(table: Table, existing: Existing) -> Iterator[str]:
    """Times that the other program always sets itself, such as "updatedAt", and that plain SQL cannot leave out."""
    known = {column.name for column in table.columns}
    for found in existing.columns.values():
        needs = found.not_null and found.default is None and not found.generated
        if needs and found.name not in known and found.type.startswith("timestamp "):
            yield f'ALTER COLUMN "{found.name}" SET DEFAULT {_now(found.type)}'


def _storage(existing: Existing) -> list[str]:
    set_already = {option.split("=")[0] for option in existing.options}
    missing = [one for one in _STORAGE if one.split(" = ")[0] not in set_already]
    return [f"SET ({', '.join(missing)})"] if missing and existing.kind == "r" else []
