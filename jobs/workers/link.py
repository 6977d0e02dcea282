"""A database connection of the engine's own, in autocommit: opened when needed, dropped when it broke, opened again."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
import structlog
from psycopg import errors

log = structlog.get_logger("jobs.worker")

type Connect = Callable[..., psycopg.Connection[Any]]

# The server is there but cannot be written to: a standby before its promotion, a primary after a fail-over.
_WRONG_SERVER = (errors.ReadOnlySqlTransaction, errors.CannotConnectNow, errors.AdminShutdown, errors.CrashShutdown)
# The server answered, and said no to this statement alone.
_PASSING = (errors.LockNotAvailable, errors.QueryCanceled, errors.DeadlockDetected, errors.SerializationFailure)
_ANSWERED = (*_PASSING, errors.ProgramLimitExceeded, errors.StatementTooComplex)


def may_pass(error: BaseException) -> bool:
    """May the same call succeed later: is the database away, or somebody else's lock in the way?"""
    return is_outage(error) or isinstance(error, _PASSING)


def is_about_us(error: BaseException) -> bool:
    """Was the statement refused for what it is (a function or a right that a migration changes), not for what it carries?"""
    return isinstance(error, psycopg.ProgrammingError) and not isinstance(error, errors.RaiseException)


FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 10.0


def is_outage(error: BaseException) -> bool:
    """Is the database away (for this worker), so that the same call may succeed later?"""
    if isinstance(error, _ANSWERED):
        return False
    return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, *_WRONG_SERVER))


class Link:
    """One connection under a lock. A call that finds it broken raises, and the next call opens a new one."""

    def __init__(
        self, connect: Connect, name: str, *, lock_timeout: str = "1s", statement_timeout: str = "30s"
    ) -> None:
        self._connect = connect
        self._name = name
        self._session = f"SET lock_timeout = '{lock_timeout}'; SET statement_timeout = '{statement_timeout}'"
        self._connection: psycopg.Connection[Any] | None = None
        self._lock = threading.RLock()

    def call[T](self, function: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Runs `function` on the connection. Raises whatever it raises; after an outage the connection is dropped."""
        with self._lock:
            connection = self._opened()
            try:
                return function(connection)
            except BaseException as error:
                if connection.broken or connection.closed or is_outage(error):
                    self._drop()
                raise

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _opened(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            connection = self._connect(f"detiq-{self._name}")
            try:
                connection.execute(self._session)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None


# Every loop of a process notices an outage by itself; the log hears of it once in a while from one of them.
_QUIET_SECONDS = 5.0
_last_said = [0.0]


class Backoff:
    """Growing waits between tries, and a log line now and then."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._wait = FIRST_WAIT_SECONDS
        self._since: float | None = None

    def failed(self, error: BaseException) -> float:
        """Notes a failure; returns the seconds to wait before the next try."""
        wait, self._wait = self._wait, min(self._wait * 2, LONGEST_WAIT_SECONDS)
        now = time.monotonic()
        self._since = self._since or now
        if now - _last_said[0] > _QUIET_SECONDS:
            _last_said[0] = now
            log.warning("worker.database_away", loop=self._what, error=str(error).strip()[:300], next_try_seconds=wait)
        return wait

    def succeeded(self) -> None:
        if self._since is not None:
            log.info("worker.database_back", loop=self._what, away_seconds=round(time.monotonic() - self._since, 1))
        self._wait, self._since = FIRST_WAIT_SECONDS, None
