"""Runs the SQL of the pages: reads only, named columns, with a time limit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from datetime import datetime
from types import MappingProxyType
from typing import Any

from asgiref.sync import sync_to_async
from django.db import OperationalError, connection, connections, transaction
from psycopg import ServerCursor
from psycopg.errors import QueryCanceled
from psycopg.pq import TransactionStatus

from jobs.rows import Row, as_dicts

# A page waits no longer than this for one statement.
PAGE_SECONDS = 2.0

# What PostgreSQL is told with each statement. A page has a dozen of them, and asking it to begin, to limit, to lift the
# limit and to commit around each would be four more journeys; so the settings travel with the statement they are for.
_in_force: ContextVar[Mapping[str, str]] = ContextVar("detiq_settings", default=MappingProxyType({}))
_UNLIMITED = "0"
# These come first in their transaction, or after one of its statements failed.
_ABOUT_TRANSACTIONS = ("SAVEPOINT ", "RELEASE ", "ROLLBACK ", "SET TRANSACTION ")


class TooSlow(Exception):
    """A read took longer than a page may wait."""


@contextmanager
def limited(seconds: float = PAGE_SECONDS) -> Iterator[None]:
    """Each statement inside may take `seconds`; a limit around it holds again after it. Raises `TooSlow`.

    In a transaction a statement that took too long undoes what was done inside and no more; the same limit as around it
    adds nothing, and what it refuses ends the block around it.
    """
    limit = f"{int(seconds * 1000)}ms"
    same = _in_force.get().get("statement_timeout") == limit
    inside = transaction.atomic() if connection.in_atomic_block and not same else nullcontext()
    try:
        with inside, _told({"statement_timeout": limit}):
            yield
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TooSlow(f"the database did not answer in {seconds:g} s") from error
        raise


async def apart[T](read: Callable[..., T], *args: Any) -> T:
    """One read of a stream. Its connection goes back at once: a stream may wait long for its reader, and break."""

    def once() -> T:
        try:
            return read(*args)
        finally:
            connections.close_all()

    return await sync_to_async(once)()


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


def planned(**switches: bool) -> AbstractContextManager[None]:
    """Planner methods switched for the statements inside: `planned(seqscan=False)`. What was switched around it is so
    again after it."""
    return _told({f"enable_{name}": "on" if on else "off" for name, on in switches.items()})


@contextmanager
def _told(settings: Mapping[str, str]) -> Iterator[None]:
    """Each statement inside carries these settings, and those around them."""
    around = _in_force.get()
    inside = _in_force.set({**around, **settings})
    try:
        with nullcontext() if around else connection.execute_wrapper(_carry):
            try:
                yield
            finally:
                _take_back({name: value for name, value in settings.items() if name not in around})
    finally:
        _in_force.reset(inside)


def _carry(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """One statement with its settings before it, in one journey: outside of a transaction they hold for it alone."""
    if sql.startswith(_ABOUT_TRANSACTIONS):
        return execute(sql, params, many, context)
    with connection.wrap_database_errors:
        raw = connection.connection
        # A statement that is fetched in parts goes alone, in the transaction that it needs.
        with nullcontext() if isinstance(context["cursor"].cursor, ServerCursor) else raw.pipeline():
            raw.execute(_calls(_in_force.get()))
            return execute(sql, params, many, context)


def _take_back(settings: Mapping[str, str]) -> None:
    """In a transaction what a statement was told would hold for those after it, if there may be any."""
    if not settings or not connection.in_atomic_block:
        return
    if connection.connection.info.transaction_status is TransactionStatus.INTRANS:
        usual = {name: _UNLIMITED if name == "statement_timeout" else "on" if value == "off" else "off"
                 for name, value in settings.items()}  # fmt: skip
        with connection.cursor() as cursor:
            cursor.execute(_calls(usual))


def _calls(settings: Mapping[str, str]) -> str:
    """Names and values are this module's own."""
    return "SELECT " + ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())  # noqa: S608


def fetch(sql: str, params: Mapping[str, Any] | Sequence[Any] | None = None) -> list[Row]:
    """The rows as dicts."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return as_dicts(cursor)


def fetch_one(sql: str, params: Mapping[str, Any] | Sequence[Any] | None = None) -> Row | None:
    """The first row, or None."""
    return next(iter(fetch(sql, params)), None)


def database_now() -> datetime:
    """The database's clock."""
    row = fetch_one("SELECT clock_timestamp() AS now")
    assert row is not None  # noqa: S101  (a SELECT without FROM has one row)
    now: datetime = row["now"]
    return now
