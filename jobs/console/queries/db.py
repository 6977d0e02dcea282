"""Runs the SQL of the pages: reads only, named columns, with a time limit."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

type Row = dict[str, Any]

# A page waits no longer than this for one statement.
PAGE_SECONDS = 2.0


_in_force: ContextVar[str] = ContextVar("detiq_statement_timeout")
_switched: ContextVar[Mapping[str, bool]] = ContextVar("detiq_planner_methods", default=MappingProxyType({}))


class TooSlow(Exception):
    """A read took longer than a page may wait."""


@contextmanager
def limited(seconds: float = PAGE_SECONDS) -> Iterator[None]:
    """A transaction in which each statement may take `seconds`; a limit around it holds again after it. Raises `TooSlow`."""
    limit = f"{int(seconds * 1000)}ms"
    around = _in_force.set(limit)
    try:
        with transaction.atomic():
            _limit(limit)
            yield
            _limit("0" if around.old_value is Token.MISSING else around.old_value)
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TooSlow(f"the database did not answer in {seconds:g} s") from error
        raise
    finally:
        _in_force.reset(around)


@contextmanager
def one_snapshot() -> Iterator[None]:
    """A read-only transaction whose statements all see the same rows, so that a list and its count agree."""
    if connection.in_atomic_block:  # its first statement has chosen its snapshots already
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


@contextmanager
def planned(**switches: bool) -> Iterator[None]:
    """Planner methods switched for the statements inside, in the transaction that is open: `planned(seqscan=False)`.

    What was switched around it is so again after it.
    """
    around = _switched.get()
    inside = _switched.set({**around, **switches})
    try:
        _switch(switches)
        yield
        _switch({name: around.get(name, not on) for name, on in switches.items()})
    finally:
        _switched.reset(inside)


def _switch(switches: Mapping[str, bool]) -> None:
    calls = ", ".join(["set_config(%s, %s, true)"] * len(switches))
    values = [value for name, on in switches.items() for value in (f"enable_{name}", "on" if on else "off")]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {calls}", values)  # noqa: S608  (the same call again and again)


def _limit(value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [value])


def fetch(sql: str, params: Mapping[str, Any] | Sequence[Any] | None = None) -> list[Row]:
    """The rows as dicts."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def fetch_one(sql: str, params: Mapping[str, Any] | Sequence[Any] | None = None) -> Row | None:
    """The first row, or None."""
    return next(iter(fetch(sql, params)), None)


def database_now() -> datetime:
    """The database's clock."""
    row = fetch_one("SELECT clock_timestamp() AS now")
    assert row is not None  # noqa: S101  (a SELECT without FROM has one row)
    now: datetime = row["now"]
    return now
