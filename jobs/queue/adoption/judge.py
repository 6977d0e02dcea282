"""Compares a table with the contract: what is in the way, what is only less than it could be. Changes nothing."""

from collections.abc import Iterator

from jobs.queue.adoption.catalog import Existing, Found
from jobs.queue.adoption.contract import JOBS, Column, Kind, Table
from jobs.queue.adoption.report import Finding

_KINDS = {"v": "a view", "m": "a materialized view", "f": "a foreign table", "S": "a sequence", "c": "a type"}


def judge(table: Table, existing: Existing) -> list[Finding]:
    """Everything about this table that `migrate` leaves as it is and somebody should know."""
    if existing.kind in _KINDS:
        return [Finding(table.name, f"it is {_KINDS[existing.kind]}, not a table", table.essential)]
    return [Finding(table.name, words, fatal and table.essential) for words, fatal in _all(table, existing)]


def _all(table: Table, existing: Existing) -> Iterator[tuple[str, bool]]:
    if not existing.owned:
        yield (
            f'it belongs to "{existing.owner}": migrate as that role (DATABASE_OWNER_URL), or as a member of it',
            True,
        )
    if (table.key,) not in existing.unique:
        yield f'"{table.key}" is not unique: it needs a primary key or a unique index', True
    for column in table.columns:
        found = existing.columns.get(column.name)
        if found is not None:
            yield from _column(column, found)
        elif column.filled and column.default is None:
            yield f'it has no column "{column.name}", and no value can be made up for the rows that are there', True
    if table is JOBS:
        yield from _jobs(existing)


def _column(column: Column, found: Found) -> Iterator[tuple[str, bool]]:
    name = f'"{column.name}"'
    if found.is_enum and column.kind is Kind.WORD:
        yield from _enum(column, found)
    elif found.type not in column.kind.value:
        yield f"{name} is of type {found.full}; it must be {_or(column)}", True
    elif found.length is not None and _too_short(column, found.length):
        yield f"{name} is of type {found.full}, too short for what is written there; it must be text", True
    if found.collation is not None:
        # A claim goes from one tenant to the next by this order, in statements that have it from elsewhere, too.
        yield f'{name} has the collation {found.collation}; it must have the database\'s own (COLLATE "default")', True
    if found.generated:
        yield f"{name} is generated, so nothing can write it", True
    if found.not_null and column.emptied:
        yield f"{name} is NOT NULL, but a job without it must be possible", True
    elif found.not_null and not column.filled:
        yield f"{name} is NOT NULL: jobs without it are refused by the database", False
    elif column.filled and not found.not_null:
        yield f"{name} may be NULL: a row where it is can be passed over", False
    if column.words and found.default and column.default and column.default not in found.default:
        yield f"{name} has the default {found.default}: a row inserted without it is no queued job", False


def _too_short(column: Column, length: int) -> bool:
    return length < max(map(len, column.words)) if column.words else column.emptied


def _enum(column: Column, found: Found) -> Iterator[tuple[str, bool]]:
    missing = [word for word in column.words if word not in found.labels]
    if missing and not found.owns_enum:
        yield (
            f'"{column.name}" is the enum {found.type}, which lacks {", ".join(missing)} and belongs to another role',
            True,
        )
    if not found.castable and not found.owns_enum:
        yield (
            f'"{column.name}" is the enum {found.type}, which belongs to another role: no cast from text can be made',
            True,
        )


def _jobs(existing: Existing) -> Iterator[tuple[str, bool]]:
    columns = existing.columns
    clocks = {columns[name].type for name in ("queuedAt", "requeuedAt") if name in columns}
    if len(clocks) > 1:
        yield (
            '"queuedAt" and "requeuedAt" differ in type (with and without time zone): no index can order by both',
            True,
        )
    naive = [one.name for one in columns.values() if one.type == "timestamp without time zone"]
    if naive:
        yield (
            f"{', '.join(naive)} have no time zone and are read as UTC: every program must write UTC there, and a "
            "session that uses now() must have TimeZone UTC",
            False,
        )
    yield from _extra(existing)
    for reference in existing.references:
        what = "deletes its rows with a purged job, and a restored job comes back without them"
        words = what if reference["cascades"] else "may refuse that a job is purged"
        yield f"{reference['table']} refers to it and {words}", False
    for check in existing.checks:
        yield f"constraint {check['name']} {check['text']} may refuse what is written", False
    if existing.row_security:
        yield (
            "row security is on: the role that serves needs BYPASSRLS or a policy of its own, or it sees no jobs",
            False,
        )


def _extra(existing: Existing) -> Iterator[tuple[str, bool]]:
    known = {column.name for column in JOBS.columns}
    for one in existing.columns.values():
        if one.name in known:
            continue
        if one.generated:
            yield f'"{one.name}" is generated: a purged job cannot be restored', False
        elif one.not_null and one.default is None and not one.type.startswith("timestamp"):
            yield (
                f'"{one.name}" is NOT NULL without a default: the database refuses new jobs of the console, of commands '
                "and of SQL that does not name it",
                False,
            )


def _or(column: Column) -> str:
    usable = [one for one in column.kind.value if one]
    words = " or ".join(["text or an enum"] if column.kind is Kind.WORD else usable[:2])
    if column.name == "type":
        words += " (types are open: any program may bring a new one)"
    return words
